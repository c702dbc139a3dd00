"""A process that speaks AI2-THOR's pipe protocol and misbehaves on request.

    python thor_process.py [BEHAVIOUR[:ACTION]]

`exit`, `signal`, `hang`, `garbage` and `wrong-number` act when ACTION arrives (`hello`: before the
first message); `drip` and `flood` never end their answer to it, and `deaf` reads nothing after it;
`cameras` has a map camera; without a behaviour the process only answers.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

import msgpack

SIZE = (300, 300)
BEHAVIOUR, _, TRIGGER = (sys.argv[1] if len(sys.argv) > 1 else "").partition(":")


def send(pipe: BinaryIO, reply: dict[str, Any], images: list[tuple[int, bytes]]) -> None:
    for kind, body in [(1, msgpack.packb(reply)), *images, (255, b"")]:
        pipe.write(struct.pack("!BI", kind, len(body)) + body)
    pipe.flush()


def receive(pipe: BinaryIO) -> dict[str, Any]:
    body = b""
    while True:
        header = pipe.read(5)
        if len(header) < 5:
            sys.exit(0)
        kind, length = struct.unpack("!BI", header)
        if kind == 255:
            return dict(json.loads(body))
        body = pipe.read(length)


def misbehave(name: str, pipe: BinaryIO | None) -> None:
    if not TRIGGER or name != TRIGGER:
        return
    if BEHAVIOUR == "exit":
        print("no graphics device was found", flush=True)
        sys.exit(3)
    if BEHAVIOUR == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if BEHAVIOUR == "hang":
        while True:
            time.sleep(60)
    if BEHAVIOUR == "garbage" and pipe is not None:
        pipe.write(b"\x63" * 64)
        pipe.flush()

    if BEHAVIOUR in ("drip", "flood") and pipe is not None:
        pipe.write(struct.pack("!BI", 4, 2**20) * (BEHAVIOUR == "drip"))
        while True:
            picture = struct.pack("!BI", 4, 2**10) + b"0" * 2**10
            pipe.write(b"0" if BEHAVIOUR == "drip" else picture)
            pipe.flush()
            time.sleep(0.1 * (BEHAVIOUR == "drip"))


def main() -> None:
    misbehave("hello", None)
    out = Path(os.environ["AI2THOR_FIFO_SERVER_PIPE_PATH"]).open("wb")  # noqa: SIM115
    inward: BinaryIO | None = None
    action: dict[str, Any] = {"action": "hello", "sequenceId": 0}
    cameras: list[dict[str, Any]] = []
    while True:
        name, answer, error = action["action"], None, ("", "")
        misbehave(name, out)
        if name == "GetScenesInBuild":
            answer = ["FloorPlan1_physics"]
        elif name == "Initialize":
            answer = {"cameraNearPlane": 0.1, "cameraFarPlane": 20.0}
        elif name == "GetMapViewCameraProperties" and BEHAVIOUR == "cameras":
            answer = {"orthographicSize": 3.0, "orthographic": True}
        elif name == "AddThirdPartyCamera" and BEHAVIOUR == "cameras":
            cameras.append({"thirdPartyCameraId": 0, "size": action["orthographicSize"]})
        elif name in ("GetMapViewCameraProperties", "AddThirdPartyCamera"):
            error = ("InvalidAction", f"Invalid action: {name}")
        agent = {
            "screenWidth": SIZE[0], "screenHeight": SIZE[1], "lastAction": name,
            "lastActionSuccess": not error[0], "errorCode": error[0], "errorMessage": error[1],
            "actionReturn": answer, "thirdPartyCameras": cameras, "sceneName": "FloorPlan1",
            "agent": {}, "objects": [], "inventoryObjects": [],
        }  # fmt: skip
        number = action["sequenceId"] + (1000 if name == TRIGGER == "Pass" else 0)
        reply = {
            "agents": [agent], "thirdPartyCameras": cameras, "activeAgentId": 0,
            "sequenceId": number if BEHAVIOUR == "wrong-number" else action["sequenceId"],
        }  # fmt: skip
        pixels = SIZE[0] * SIZE[1]
        grey = bytes([action["sequenceId"] % 256])
        images = [(4, grey * 3 * pixels), *((10, b"\xff\x00\x00" * pixels) for _ in cameras)]
        send(out, reply, images if BEHAVIOUR == "cameras" else [])
        if inward is None:
            inward = Path(os.environ["AI2THOR_FIFO_CLIENT_PIPE_PATH"]).open("rb")  # noqa: SIM115
        while BEHAVIOUR == "deaf" and name == TRIGGER:
            time.sleep(60)
        action = receive(inward)


main()
