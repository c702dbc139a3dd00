"""Run hvr on BabyAI's levels, measuring success by their rewards and steps against an expert.

    python benchmarks/babyai.py                                  # all levels, 20 seeds each: hours
    python benchmarks/babyai.py --levels GoTo Boss --seeds 5     # levels whose name contains a text
    python benchmarks/babyai.py --faults                         # others move keys and close doors
    python benchmarks/babyai.py --view 5                         # a view of 5 by 5 cells

Each episode is a line of the output file; a run with the same file continues where it stopped. The
expert is `minigrid.utils.baby_ai_bot.BabyAIBot` on the same level and seed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import signal
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.conditions import conditions
from hvr.base.files import data_path
from hvr.errors import HvrError, LanguageError
from hvr.execution.facts.revealing import PosedRun
from hvr.worlds.facts.folder import WorldFolder

EVERY = 12
"""Number of steps between two actions of other agents."""
PATIENCE = 20
"""Seconds for the expert, which searches without end in some episodes."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--levels", nargs="+", default=[""], help="texts in the names of levels")
    parser.add_argument("--seeds", type=int, default=20, help="seeds of each level")
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--faults", action="store_true", help="others move keys and close doors")
    parser.add_argument("--expert-seeds", type=int, help="seeds on which the expert plays too")
    parser.add_argument("--view", type=int, default=7, help="width of the agent's view: 3, 5 or 7")
    parser.add_argument("--out", type=Path, default=Path("babyai.jsonl"))
    args = parser.parse_args(arguments)
    folder = WorldFolder(data_path("worlds") / "babyai")
    levels = [name for name in _levels() if any(text in name for text in args.levels)]
    setting = {"faults": args.faults, "view": args.view}
    known = {_key(row): row for row in _rows(args.out)}
    rows = []
    todo = [(level, args.first_seed + n) for level in levels for n in range(args.seeds)]
    for number, (level, seed) in enumerate(todo, 1):
        about = {"level": level, "seed": seed, **setting}
        row = known.get(_key(about))
        if row is None:
            row = {**about, **_episode(folder, level, seed, args)}
            with args.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            state = "ok" if row["reached"] else f"NOT REACHED: {row['reason']}"
            beside = f"{row['steps']} steps, expert {row['expert']}"
            print(f"{number}/{len(todo)} {level} {seed}: {state}, {beside}", file=sys.stderr)
        rows.append(row)
    print(conditions())
    print("\n".join(_table(levels, rows)))
    return 0


def _levels() -> list[str]:
    import gymnasium
    import minigrid  # noqa: F401 - registers the levels

    return [name for name in gymnasium.registry if name.startswith("BabyAI-")]


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["level"], row["seed"], row["faults"], row["view"]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.is_file():
        yield from (json.loads(line) for line in path.read_text().splitlines() if line)


def _made(level: str, args: argparse.Namespace, seed: int) -> Any:
    import gymnasium

    options = {} if args.view == 7 else {"agent_view_size": args.view}
    made = gymnasium.make(level, disable_env_checker=True, **options)
    return Others(made, seed) if args.faults else made


def _episode(
    folder: WorldFolder, level: str, seed: int, args: argparse.Namespace
) -> dict[str, Any]:
    started = time.perf_counter()
    found: dict[str, Any] = {"reached": False, "understood": True, "reason": "", "plans": 0}
    env: Any = folder.open_here(folder.posed_problem(level), seed, level)
    env.replace_level(_made(level, args, seed))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            posed = PosedRun(folder, env, level)
            found["mission"] = posed.request
            run = posed.run()
        found |= {"reached": env.outcome() is True, "plans": len(run.plans)}
        found["alarms"] = sum(number for _, number in run.finished.failures)
        found["reason"] = "" if found["reached"] else run.finished.reason or "not counted as done"
        found["claimed"] = run.finished.reached and not run.unseen
    except LanguageError as error:
        found |= {"understood": False, "reason": str(error)}
    except HvrError as error:
        found["reason"] = str(error)
    except Exception as error:  # a bug is a failed episode, not the end of the benchmark
        found["reason"] = f"{type(error).__name__}: {error}"
    found |= {"steps": env.steps, "seconds": round(time.perf_counter() - started, 3)}
    env.close()
    beside = args.expert_seeds is None or seed < args.first_seed + args.expert_seeds
    if args.faults or not beside:
        return {**found, "expert": None}
    return {**found, "expert": _expert(level, seed, args), "expert_played": True}


def _expert(level: str, seed: int, args: argparse.Namespace) -> int | None:
    """Return the number of steps of the expert; None if it fails or takes more than `PATIENCE`."""
    from minigrid.utils.baby_ai_bot import BabyAIBot

    def give_up(*_: object) -> None:
        raise TimeoutError

    env = _made(level, args, seed)
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            env.reset(seed=seed)
            bot, action, steps = BabyAIBot(env), None, 0
            while True:
                action = bot.replan(action)
                _, reward, ended, out_of_time, _ = env.step(action)
                steps += 1
                if ended or out_of_time:
                    return steps if reward > 0 else None
    except Exception:  # it gives up by an error
        return None
    finally:
        signal.alarm(0)
        env.close()


class Others:
    """A level in which other agents occasionally move keys and close doors."""

    def __init__(self, level: Any, seed: int) -> None:
        self._level = level
        self._draw = random.Random(f"others {seed}")
        self._steps = 0

    def reset(self, **options: Any) -> Any:
        return self._level.reset(**options)

    def close(self) -> None:
        self._level.close()

    def step(self, action: int) -> Any:
        result = self._level.step(action)
        self._steps += 1
        if self._steps % EVERY or result[2] or result[3]:
            return result
        self._draw.choice((self._close_door, self._move_key))()
        return (self._level.unwrapped.gen_obs(), *result[1:])

    def _cells(self, kind: str) -> list[tuple[int, int]]:
        level = self._level.unwrapped
        grid = level.grid
        places = [(x, y) for x in range(grid.width) for y in range(grid.height)]
        return [p for p in places if (cell := grid.get(*p)) is not None and cell.type == kind]

    def _close_door(self) -> None:
        level = self._level.unwrapped
        here = tuple(map(int, level.agent_pos))
        doors = [p for p in self._cells("door") if level.grid.get(*p).is_open and p != here]
        if doors:
            level.grid.get(*self._draw.choice(doors)).is_open = False

    def _move_key(self) -> None:
        """Move a key to a different free cell of its room, away from doors."""
        level = self._level.unwrapped
        keys = self._cells("key")
        if not keys:
            return
        x, y = self._draw.choice(keys)
        room = level.room_from_pos(x, y)
        left, top = room.top
        inside = [
            (a, b)
            for a in range(left + 2, left + room.size[0] - 2)
            for b in range(top + 2, top + room.size[1] - 2)
            if level.grid.get(a, b) is None and (a, b) != tuple(map(int, level.agent_pos))
        ]
        if inside:
            key, place = level.grid.get(x, y), self._draw.choice(inside)
            level.grid.set(x, y, None)
            level.grid.set(*place, key)
            key.cur_pos = place
            level.update_objs_poss()


def _table(levels: list[str], rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "| level | episodes | reached | not understood | steps / expert | seconds |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for level in (*levels, "all"):
        mine = [row for row in rows if level in (row["level"], "all")]
        ratios = [r["steps"] / r["expert"] for r in mine if r["reached"] and r["expert"]]
        ratio = f"{statistics.median(ratios):.2f}" if ratios else "–"
        reached = sum(row["reached"] for row in mine)
        lost = sum(not row["understood"] for row in mine)
        seconds = statistics.mean(row["seconds"] for row in mine) if mine else 0
        yield f"| {level} | {len(mine)} | {reached} | {lost} | {ratio} | {seconds:.2f} |"
    whole = [r for r in rows if r["reached"] and r["expert"]]
    if whole:
        total = sum(r["steps"] for r in whole) / sum(r["expert"] for r in whole)
        yield f"\nSum of steps beside the expert's: {total:.2f} ({len(whole)} episodes)"
    played = [row for row in rows if row.get("expert_played")]
    failed = sum(row["expert"] is None for row in played)
    yield f"Episodes in which the expert fails: {failed} of {len(played)}"
    false = [row for row in rows if row.get("claimed") and not row["reached"]]
    yield f"Claimed as reached without the reward: {len(false)}"


if __name__ == "__main__":
    sys.exit(main())
