"""Self-test of the suite on faulty and on conforming services."""
