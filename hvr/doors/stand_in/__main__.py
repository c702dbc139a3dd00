"""`python -m hvr.doors.stand_in`: the command that the client starts."""

from __future__ import annotations

import sys

from hvr.doors.stand_in.process import main
from hvr.errors import HvrError

if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except HvrError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
