"""Threads in which names of hosts are resolved."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_P = ParamSpec("_P")
_T = TypeVar("_T")


class DaemonExecutor(ThreadPoolExecutor):
    """Executor whose threads do not keep the process alive: a slow resolver cannot be interrupted."""

    def submit(self, call: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Call a function in a separate thread."""
        future: Future[_T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(call(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001 - the caller gets it
                future.set_exception(error)

        threading.Thread(target=work, name="resolver", daemon=True).start()
        return future
