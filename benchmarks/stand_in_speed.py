"""Measure the steps per second of AI2-THOR's client on the stand-in server.

    python benchmarks/stand_in_speed.py [--scene FloorPlan1] [--steps 500] [--json]

The script runs the real client (package ai2thor) on the real process, through pipes and through
HTTP, with full metadata, without images and, where rendering is available, also with images. It
also measures the CPU time of single parts of a step: the kitchen with its metadata, encoding, and
the client's decoding. Encoding is measured with the bytes of unchanged objects reused (`kept`), and
with everything encoded at every step (`anew`). Figures are the best of five rounds, because other
load can only slow them down.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conditions import conditions
from inputs import measured

from hvr.doors.stand_in import controller_arguments
from hvr.doors.stand_in.protocol import JsonEncoder, MetadataEncoder, MsgpackEncoder, Reply
from hvr.worlds.kitchen import Kitchen

ROUNDS = 5


def scripts(metadata: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return actions to repeat, by the kind of change that they cause."""
    switch = next(o["objectId"] for o in metadata["objects"] if o["objectType"] == "LightSwitch")
    toggle = {"objectId": switch, "forceAction": True}
    return {
        "nothing changes (Pass)": [{"action": "Pass"}],
        "one object changes (toggle)": [
            {"action": "ToggleObjectOff", **toggle},
            {"action": "ToggleObjectOn", **toggle},
        ],
        "the agent turns (RotateRight)": [{"action": "RotateRight"}],
        "the agent walks (MoveAhead, MoveBack)": [{"action": "MoveAhead"}, {"action": "MoveBack"}],
    }


def seconds_each(
    do: Callable[[dict[str, Any]], Any],
    script: list[dict[str, Any]],
    n: int,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return the seconds per action in the best round."""
    rounds = []
    for _ in range(ROUNDS):
        actions: Iterator[dict[str, Any]] = itertools.cycle(script)
        start = clock()
        for _ in range(n):
            do(next(actions))
        rounds.append((clock() - start) / n)
    return min(rounds)


def through_the_client(scene: str, steps: int) -> Iterator[tuple[str, str, float]]:
    """Yield the steps per second for each transport and script."""
    from ai2thor.controller import Controller

    for wsgi, images in itertools.product((False, True), (False, True)):
        arguments = controller_arguments(scene, wsgi=wsgi, headless=not images)
        controller = Controller(**arguments)
        way = "HTTP" if wsgi else "pipes"
        if images:
            if controller.last_event.frame is None:
                controller.stop()
                continue
            way += ", 300 x 300 image"
        for name, script in scripts(controller.last_event.metadata).items():
            n = steps // 4 if wsgi or images else steps
            yield way, name, 1 / seconds_each(controller.step, script, n)
        controller.stop()
        controller.server.unity_proc.wait()


def by_themselves(scene: str, steps: int) -> Iterator[tuple[str, str, float]]:
    """Yield the milliseconds for each part of a step and each script."""
    import msgpack

    encoders: dict[str, tuple[Callable[[], MetadataEncoder], Callable[[bytes], Any]]] = {
        "msgpack": (MsgpackEncoder, lambda d: msgpack.loads(d, raw=False, strict_map_key=False)),
        "JSON": (JsonEncoder, json.loads),
    }
    cpu_each = partial(seconds_each, clock=time.process_time)
    kitchen = Kitchen(scene)
    for name, script in scripts(kitchen.last_event.metadata).items():
        kitchen_alone = seconds_each(
            lambda a: kitchen.step(a).metadata, script, steps, time.process_time
        )
        yield "kitchen and metadata", name, 1000 * kitchen_alone
        for form, (make, read) in encoders.items():
            for how in ("kept", "anew"):
                kept = make() if how == "kept" else None

                def encode(
                    action: dict[str, Any],
                    kept: MetadataEncoder | None = kept,
                    make: Callable[[], MetadataEncoder] = make,
                ) -> bytes:
                    return (kept or make()).envelope(Reply(kitchen.step(action).metadata, 0))

                both = cpu_each(encode, script, steps)
                yield f"{form}, encode {how}", name, 1000 * max(0.0, both - kitchen_alone)
            data = encode(script[0])
            decoding = seconds_each(
                lambda _, d=data, r=read: r(d), script, steps // 4, time.process_time
            )
            yield f"{form}, client decodes", name, 1000 * decoding


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--scene", default="FloorPlan1")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home  # the client writes ~/.ai2thor
        clients = list(through_the_client(options.scene, options.steps))
    parts = list(by_themselves(options.scene, options.steps))
    rounds = f"{options.scene}, {ROUNDS} x {options.steps} steps"
    line = f"{conditions()} · {_versions()} · {rounds}"
    if options.json:
        print(json.dumps({"conditions": line, "steps/s": clients, "ms": parts}, indent=2))
        return
    print(line)
    for title, rows, form in (("steps per second", clients, "{:9.0f}"), ("ms", parts, "{:9.3f}")):
        scripts_seen = list(dict.fromkeys(script for _, script, _ in rows))
        print(f"\n{title:<34}" + "".join(f"{s:>40}" for s in scripts_seen))
        for way in dict.fromkeys(way for way, _, _ in rows):
            cells = {script: value for w, script, value in rows if w == way}
            shown = (form.format(cells[s]) if s in cells else "" for s in scripts_seen)
            print(f"{way:<34}" + "".join(f"{cell:>40}" for cell in shown))


def _versions() -> str:
    from importlib.metadata import version

    return " · ".join(f"{name} {version(name)}" for name in ("ai2thor", "msgpack"))


if __name__ == "__main__":
    sys.exit(measured(main))
