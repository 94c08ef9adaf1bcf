"""What the suite expects: the words that checks are written in."""
