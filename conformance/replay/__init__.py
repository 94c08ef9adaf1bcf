"""A recorded run is judged again, without its target."""
