"""The command ``wattseal``, in this process."""

import signal
import sys

from ._native import command  # type: ignore[import-not-found]


def main():
    """Does what the command line says, and returns its exit code."""
    # As in any command: Ctrl-C ends it, or asks it to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(sys.argv)
