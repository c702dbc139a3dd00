"""The way in: `hvr` and `python -m hvr`."""

import sys


def start() -> None:
    """Run the command line as this process, and exit; Ctrl-C is heard while modules load, too."""
    try:
        from hvr.cli.main import run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    start()
