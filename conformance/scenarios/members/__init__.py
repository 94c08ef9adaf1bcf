"""Scenarios of members: invitations, roles, removal."""
