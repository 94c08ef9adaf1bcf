"""How the suite talks to a target: one client, every exchange recorded."""
