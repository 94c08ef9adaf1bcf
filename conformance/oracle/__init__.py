"""Oracle: the rules that every observed behaviour of a service is judged by."""
