"""The services of the ledger's tests, which walks use too."""

from tests.oracle.conftest import honest, make_client

__all__ = ["honest", "make_client"]
