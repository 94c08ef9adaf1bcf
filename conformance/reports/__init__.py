"""Reports: pure functions that render every output of a finished run."""
