"""The way in: `hvr` and `python -m hvr`."""

import gc
import sys


def start() -> None:
    """Run the command line as this process, and exit; Ctrl-C is heard while modules load, too."""
    try:
        # Loading modules makes no garbage. `hvr.cli.main` enables the collector afterwards.
        gc.disable()
        from hvr.cli.main import run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except Exception as error:
        # What hvr needs to say this better is itself damaged.
        print(f"error: hvr failed: {type(error).__name__}: {error}; is it installed whole?",
              file=sys.stderr)  # fmt: skip
        sys.exit(3)


if __name__ == "__main__":
    start()
