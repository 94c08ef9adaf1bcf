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

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what its encoding lacks must not end a run, and its verdict be lost
            stream.reconfigure(errors="backslashreplace")

    from conformance.cli import main as command_line  # noqa: PLC0415 - after the signal is provided for

    try:
        command_line(prog_name="conformance")
    finally:
        # All is done and said; a signal that comes while the interpreter ends must not give another exit status.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    main()
