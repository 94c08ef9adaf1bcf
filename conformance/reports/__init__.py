"""What we say: pure functions that make every output from a finished run."""
