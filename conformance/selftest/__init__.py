"""The suite against services of its own: faulty ones that it must find, conforming ones that it must not accuse."""
