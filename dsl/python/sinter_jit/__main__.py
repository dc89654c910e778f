"""The command line tool: python3 -m sinter_jit run 'exp(z)' --arg z=z.npy. See docs/tool.md."""
import os
import signal
import sys

from ._core import _tool


def main():
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)  # they end the process, as they do other programs
    program = "python3 -m sinter_jit" if sys.argv[0].endswith("__main__.py") else sys.argv[0]
    return _tool([os.fsencode(argument) for argument in (program, *sys.argv[1:])])


if __name__ == "__main__":
    sys.exit(main())
