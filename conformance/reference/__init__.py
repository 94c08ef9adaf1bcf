"""Complete implementation of the interface, for self-tests and as a sandbox."""
