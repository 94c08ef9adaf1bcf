"""Confirmation of findings that another user or a slow clock could have caused."""
