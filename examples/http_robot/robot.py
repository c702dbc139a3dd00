"""An environment of facts for a robot that listens to HTTP.

The robot answers POST /reset, POST /actions with {"name": …, "args": [...]}, and GET /state.
"""

import json
import os
from urllib.request import Request, urlopen

from hvr import Observation

URL = os.environ.get("ROBOT_URL", "http://127.0.0.1:8765")
SECONDS = 20  # less than env_timeout, so that the robot's silence is reported as such


def exchange(method, path, data=None):
    body = None if data is None else json.dumps(data).encode()
    request = Request(URL + path, body, {"Content-Type": "application/json"}, method=method)
    with urlopen(request, timeout=SECONDS) as response:
        return json.load(response)


class Robot:
    def reset(self):
        exchange("POST", "/reset", {})

    def step(self, name, args):
        return exchange("POST", "/actions", {"name": name, "args": list(args)})["error"]

    def observe(self):
        state = exchange("GET", "/state")
        return Observation([tuple(fact) for fact in state["facts"]], hidden=state["hidden"])


def open_robot(_setup):
    return Robot()
