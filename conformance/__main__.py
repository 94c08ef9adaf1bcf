"""``conformance`` and ``python -m conformance``."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from conformance.exits import Exit

_OF_GENERATORS: Final = ("HYPOTHESIS_", "SCHEMATHESIS_")
"""The beginnings of variables with which a project loads its own code into these libraries and changes their cases."""


def main() -> None:
    """Run the command line.

    Until a command handles it, Ctrl-C ends the program at once and without a traceback: while modules are loaded, there
    is nothing to undo.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    from conformance.exits import Exit  # noqa: PLC0415 - after the signal handler is set

    try:
        from conformance.posix import leave_no_core_file  # noqa: PLC0415 - as above
    except ImportError as error:
        sys.stderr.write(f"Exit {Exit.USAGE:d}: {error}\n")
        sys.exit(Exit.USAGE)
    leave_no_core_file()
    for name in [name for name in os.environ if name.startswith(_OF_GENERATORS)]:
        del os.environ[name]

    try:
        from conformance.cli import main as command_line  # noqa: PLC0415 - as above
        from conformance.cli.workflow_commands import guard_output  # noqa: PLC0415 - as above

        guard_output()
        command_line(prog_name="conformance")
    except MemoryError:
        sys.stderr.write(f"Exit {Exit.UNTESTABLE:d}: There is not enough memory for this.\n")
        sys.exit(Exit.UNTESTABLE)
    except OSError as error:
        sys.exit(_report_file(error))
    except Exception as error:  # noqa: BLE001 - no error may end with the status of a failed requirement
        _report(error)
        sys.exit(Exit.UNTESTABLE)
    finally:
        # A signal during the interpreter's shutdown must not change the exit status.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def _report_file(error: OSError) -> Exit:
    """Report which file or folder cannot be used; an error without a file is the suite's own."""
    from conformance.cli.text import complain  # noqa: PLC0415 - rarely needed
    from conformance.exits import Exit  # noqa: PLC0415 - as in main

    if error.filename is None:
        _report(error)
        return Exit.UNTESTABLE
    complain(f"Exit {Exit.USAGE:d}: {error.filename} cannot be used: {error.strerror}.")
    return Exit.USAGE


def _report(error: Exception) -> None:
    """Report where an error of the suite occurred.

    Without its message and values, which may contain a key; those of imports and of the catalogue never do.
    """
    import traceback  # noqa: PLC0415 - rarely needed

    from conformance.catalogue import CatalogueError  # noqa: PLC0415 - as in main
    from conformance.exits import Exit  # noqa: PLC0415 - as in main

    known = isinstance(error, ImportError | CatalogueError)
    message = str(error) if known else f"Unexpected {type(error).__name__}"
    sys.stderr.write(f"{message}: an error of this suite, not of the target.\n")
    for frame in traceback.extract_tb(error.__traceback__):
        sys.stderr.write(f"  {frame.filename}:{frame.lineno} {frame.name}\n")
    sys.stderr.write(f"Exit {Exit.UNTESTABLE:d}: an error of this suite, not of the target.\n")


if __name__ == "__main__":
    main()
