"""Entry point of `hvr` and `python -m hvr`."""

import gc
import sys


def start() -> None:
    """Run the command line and exit the process; Ctrl-C works even while modules load."""
    try:
        # Loading modules creates no garbage. `hvr.doors.cli.main` enables the collector afterwards.
        gc.disable()
        from hvr.doors.cli.main import run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except Exception as error:
        # The modules that print better messages are themselves damaged.
        print(
            f"error: hvr failed: {type(error).__name__}: {error}; is the installation complete?",
            file=sys.stderr,
        )
        sys.exit(3)


def _leave_current_folder() -> None:
    """Remove the current folder, which `python -m` puts first, from the module path."""
    # A file there could shadow a module that hvr imports later, and would be executed.
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
