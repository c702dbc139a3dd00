"""Client of the launcher in place of a program: SOCKET PROGRAM [ARGUMENT...]."""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[1])
    folder = os.getcwd()  # noqa: PTH109 - pathlib would take most of the time
    asked = {"words": sys.argv[2:], "folder": folder, "environ": dict(os.environ)}
    socket.send_fds(server, [json.dumps(asked).encode()], [0, 1, 2])
    answer = server.recv(16)
sys.exit(int(answer or 255))
