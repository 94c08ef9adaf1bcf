"""HTTP client of the suite, which records every exchange."""
