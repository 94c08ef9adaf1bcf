"""Certificates: signed statements about recorded runs, verifiable without the target."""
