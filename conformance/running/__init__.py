"""One run of the suite: what it is given, what checks may use, and how it ends."""
