"""Laws: what the interface requires of single responses, and of their course."""
