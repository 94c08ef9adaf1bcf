"""Pictures of a run, as numbers for the templates that draw them."""
