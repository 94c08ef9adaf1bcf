"""``conformance`` and ``python -m conformance``."""

import io
import signal
import sys


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

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what its encoding lacks must not end a run, and its verdict be lost
            stream.reconfigure(errors="backslashreplace")

    try:
        from conformance.cli import main as command_line  # noqa: PLC0415 - as above

        command_line(prog_name="conformance")
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not end with the status of a failed requirement
        _tell(error)
        sys.exit(Exit.UNTESTABLE)
    finally:
        # All is done and said; a signal that comes while the interpreter ends must not give another exit status.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def _tell(error: Exception) -> None:
    """Say where an error of the suite's own came up; its message and values stay unsaid, since they may hold a key."""
    import traceback  # noqa: PLC0415 - hardly ever needed

    what = str(error) if isinstance(error, ImportError) else f"Unexpected {type(error).__name__}"
    sys.stderr.write(f"{what}: an error of this suite, not of the target.\n")
    for frame in traceback.extract_tb(error.__traceback__):
        sys.stderr.write(f"  {frame.filename}:{frame.lineno} {frame.name}\n")


if __name__ == "__main__":
    main()
