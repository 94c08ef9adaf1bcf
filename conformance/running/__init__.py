"""A run of the suite: options, session, and the services that checks use."""
