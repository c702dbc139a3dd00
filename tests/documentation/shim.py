"""Client of a server of warm processes, in place of a program: SOCKET WORD..."""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[1])
    folder = os.getcwd()  # noqa: PTH109 - pathlib would take most of the time
    asked = {"words": sys.argv[2:], "folder": folder, "environ": dict(os.environ), "session": False}
    text = json.dumps(asked).encode()
    socket.send_fds(server, [len(text).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(text)
    answer = server.recv(16, socket.MSG_WAITALL)
sys.exit(os.waitstatus_to_exitcode(int.from_bytes(answer[8:], "big")) & 255 if answer[8:] else 255)
