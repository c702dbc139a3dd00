"""`hvr`: what errors look like, and the way to the commands.

Exit codes: 0 good; 1 the answer is no (invalid plan, goal not reached, impossible request);
2 the question was unusable (bad option, unknown name, bad file); 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from hvr.errors import HvrError


def run() -> None:
    """Run the command line and exit."""
    try:
        sys.exit(_run(sys.argv[1:]))
    except HvrError as error:
        if "--json" in sys.argv:
            import json

            print(json.dumps({"error": str(error), "exit_code": error.exit_code}))
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader has gone; keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _run(arguments: Sequence[str]) -> int:
    # These two are called for every commit and every plan: they do without typer, whose import
    # takes longer than validating a plan.
    match arguments:
        case ["validate", *rest]:
            # Reading makes many objects and hardly any garbage.
            gc.set_threshold(100_000)
            from hvr.cli import validate

            return validate.main(rest)
        case ["lint", *rest]:
            from hvr.cli import lint

            return lint.main(rest)
    from hvr.cli.app import app
    from hvr.cli.verify import plan_first

    app(args=plan_first(arguments))
    return 0
