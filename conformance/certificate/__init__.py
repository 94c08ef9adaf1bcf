"""Certificates: signed statements about recorded runs that anybody can check without the target."""
