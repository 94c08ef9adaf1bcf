"""``conformance`` and ``python -m conformance``."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.exits import Exit


def main() -> None:
    """Run the command line.

    Until a command takes care of it, Ctrl-C ends the program at once and without a traceback: loading what a run needs
    takes a moment, in which there is nothing to undo.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    from conformance.core_files import leave_no_core_file  # noqa: PLC0415 - after the signal is provided for
    from conformance.exits import Exit  # noqa: PLC0415 - as above

    leave_no_core_file()

    try:
        from conformance.cli import main as command_line  # noqa: PLC0415 - as above
        from conformance.cli.guarded import guard_output  # noqa: PLC0415 - as above

        guard_output()
        command_line(prog_name="conformance")
    except MemoryError:
        sys.stderr.write(f"Exit {Exit.UNTESTABLE:d}: There is not enough memory for this.\n")
        sys.exit(Exit.UNTESTABLE)
    except OSError as error:
        sys.exit(_tell_of_file(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not end with the status of a failed requirement
        _tell(error)
        sys.exit(Exit.UNTESTABLE)
    finally:
        # All is done and said; a signal that comes while the interpreter ends must not give another exit status.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def _tell_of_file(error: OSError) -> Exit:
    """Say which file or folder cannot be used; an error without one is the suite's own."""
    from conformance.cli.text import complain  # noqa: PLC0415 - hardly ever needed
    from conformance.exits import Exit  # noqa: PLC0415 - as in main

    if error.filename is None:
        _tell(error)
        return Exit.UNTESTABLE
    complain(f"Exit {Exit.USAGE:d}: {error.filename} cannot be used: {error.strerror}.")
    return Exit.USAGE


def _tell(error: Exception) -> None:
    """Say where an error of the suite's own came up; its message and values stay unsaid, since they may hold a key."""
    import traceback  # noqa: PLC0415 - hardly ever needed

    from conformance.exits import Exit  # noqa: PLC0415 - as in main

    what = str(error) if isinstance(error, ImportError) else f"Unexpected {type(error).__name__}"
    sys.stderr.write(f"{what}: an error of this suite, not of the target.\n")
    for frame in traceback.extract_tb(error.__traceback__):
        sys.stderr.write(f"  {frame.filename}:{frame.lineno} {frame.name}\n")
    sys.stderr.write(f"Exit {Exit.UNTESTABLE:d}: an error of this suite, not of the target.\n")


if __name__ == "__main__":
    main()
