"""Re-evaluation of a recorded run without its target."""
