"""A SIMULATED robot at http://127.0.0.1:8765, whose hand slips on its first grasp.

python simulated.py [PORT]
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Robot:
    def __init__(self):
        self.room, self.held, self.lies, self.grasps = "office", None, {"cup": "kitchen"}, 0

    def act(self, name, args):
        if name == "drive" and args[0] == self.room:
            self.room = args[1]
        elif name == "grasp" and self.held is None and self.lies.get(args[0]) == self.room:
            self.grasps += 1
            if self.grasps == 1:
                return "the hand slipped"
            self.held = args[0]
            del self.lies[self.held]
        elif name == "put" and self.held == args[0]:
            self.lies[self.held], self.held = self.room, None
        else:
            return f"I cannot {name} here"
        return ""

    def state(self):
        facts = [["robot-at", self.room], *(["lies-in", i, r] for i, r in self.lies.items())]
        facts.append(["holding", self.held] if self.held else ["hand-free"])
        return {"facts": facts, "hidden": []}


class Handler(BaseHTTPRequestHandler):
    robot = Robot()

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        said = json.loads(self.rfile.read(length))
        if self.path == "/reset":
            Handler.robot = Robot()
            self.answer({})
        else:
            self.answer({"error": self.robot.act(said["name"], said["args"])})

    def do_GET(self):
        self.answer(self.robot.state())

    def answer(self, data):
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int([*sys.argv, 8765][1])), Handler).serve_forever()
