"""The reference service as a process that ends at requests of one kind: ``dying.py PORT DATABASE METHOD PIECE``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from conformance.reference.application import create_app
from conformance.reference.faults.making import made
from conformance.reference.server import Server, listen
from conformance.reference.service import Service
from conformance.reference.store import Store

if TYPE_CHECKING:
    from conformance.reference.call import Call, Reply


def main(port: str, database: str, method: str, piece: str) -> None:
    """Say a key and serve until such a request comes; another start goes on with the database."""

    def act(self: Service, call: Call) -> Reply:
        if call.request.method == method and piece.encode() in call.content:
            os._exit(1)
        return Service.act(self, call)

    listener, _ = listen("127.0.0.1", int(port))
    app = create_app(Store(database), fault=made("dying", "The process ends.", "no-server-error", act=act))

    def announce() -> None:
        sys.stdout.write(f"{app.founding.api_key}\n")
        sys.stdout.flush()

    Server(app, listener, announce).serve_until_stopped()


if __name__ == "__main__":
    main(*sys.argv[1:])
