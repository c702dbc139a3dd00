"""The way in: `hvr` and `python -m hvr`."""

import gc
import sys


def start() -> None:
    """Run the command line as this process, and exit; Ctrl-C also works while modules load."""
    try:
        # Loading modules makes no garbage. `hvr.doors.cli.main` enables the collector afterwards.
        gc.disable()
        from hvr.doors.cli.main import run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except Exception as error:
        # What hvr needs to say this better is itself damaged.
        print(
            f"error: hvr failed: {type(error).__name__}: {error}; is the installation complete?",
            file=sys.stderr,
        )
        sys.exit(3)


def _leave_current_folder() -> None:
    """Take the current folder, which `python -m` puts first, off the path of modules."""
    # A file there with the name of a module that hvr imports later would be run in its place.
    import os

    if sys.flags.safe_path:
        return
    try:
        here = os.getcwd()  # noqa: PTH109 - importing pathlib takes as long as the rest
    except OSError:  # the folder was removed
        return
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    if sys.path[:1] in ([""], [here]) and own != here:
        del sys.path[0]


if __name__ == "__main__":
    _leave_current_folder()
    start()
