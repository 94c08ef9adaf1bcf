"""Scenarios of engagements: creating, editing, archiving, deleting."""
