"""Execute Python blocks in one namespace: one JSON line in, the output and one line out."""

from __future__ import annotations

import json
import sys
import traceback
from typing import Any


def main() -> None:
    sys.path.insert(0, "")
    names: dict[str, Any] = {"__name__": "__main__"}
    for line in sys.stdin:
        place, code = json.loads(line)
        good = True
        try:
            exec(compile(code, place, "exec"), names)
        except BaseException:
            good = False
            traceback.print_exc(file=sys.stdout)
        print(f"\n{place} {int(good)}", flush=True)


if __name__ == "__main__":
    main()
