"""Generate correct and wrong plans for training and testing the kitchen verifier.

    python tools/collect_kitchen_plans.py plan --output plans.jsonl [--alfred FILE] [--jobs N]
    python tools/collect_kitchen_plans.py miss --plans plans.jsonl --output families.jsonl
    python tools/collect_kitchen_plans.py pack --plans families.jsonl … --output FILE.jsonl.xz

`plan` writes one JSON line per world (one of hvr's kitchens, or the start of an ALFRED
demonstration) with its planned requests: wordings, PDDL goal, objects and plan. `miss` writes one
line per request with the plan and plans that miss the goal
(`studies.kitchen_plans.hard_negatives`), all with their causal links. `pack` merges files of `miss`
into the training format. `start` adds the initial facts of the worlds to such a file. Sources of
requests:

task       T1 to T12 with all their wordings, and their ground truths in their scenes
made       random goals (put, heat, wash, slice, fill …), worded by `WORDINGS`
said       random requests from `kitchen_wordings`, with the goal that hvr reads
sentence   benchmarks/sentences.txt, only in the held-out kitchens
alfred     ALFRED's demonstrations: goals from their parameters, wordings by people (MIT License,
           Copyright 2019 ALFRED, https://github.com/askforalfred/alfred)

`plan` and `miss` can use several processes or a Ray cluster (--jobs, --engine, --address). Fast
Downward finds the plans; goals that are unreachable in a world are omitted.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from alfred_goals import goal_of, kitchen_ontology
from alfred_judge import DATA, Wanted, read
from kitchen_wordings import FOOD, said
from side_by_side import add_options, chosen, results

from hvr.base.files import data_path
from hvr.errors import HvrError
from hvr.execution.world import World
from hvr.judging.verifier.kitchen.linked_plan import causal_links, start_of
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.relevance import allow_all_places
from hvr.language.goal_builder import Stage
from hvr.pddl import GroundAction, Task, TypedName, parse_domain, parse_formula
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from hvr.runs.tasks import load_task, paper_task_ids
from hvr.worlds import Kitchen
from studies.alfred import scene_from_alfred
from studies.kitchen_plans.alternatives import detours
from studies.kitchen_plans.examples import HELD_OUT_THINGS, Example, read_examples, write_examples
from studies.kitchen_plans.hard_negatives import misses

ROOT = Path(__file__).resolve().parent.parent
EXTRA = 6
"""Number of additional objects that wrong plans may use."""
HELD_OUT = ("FloorPlan4", "FloorPlan11", "FloorPlan15", "FloorPlan20", "FloorPlan25", "FloorPlan28")
"""Kitchens held out of training; ALFRED's demonstrations cover all six."""
MADE = 36
"""Random goals per kitchen."""

SAID = 80
"""Requests of `kitchen_wordings` per kitchen."""

SLICED = ("Apple", "Potato", "Tomato", "Lettuce", "Bread")
DISHES = ("Mug", "Cup", "Bowl", "Plate", "Pot", "Pan")
TOOLS = ("Fork", "Knife", "Spoon", "ButterKnife", "Spatula", "Ladle", "DishSponge", "SaltShaker",
         "PepperShaker", "SoapBottle", "Kettle", "WineBottle", "Bottle", "Vase", "Book",
         "CellPhone", "CreditCard", "Statue")  # fmt: skip
PLACES = ("CounterTop", "DiningTable", "SideTable", "Shelf", "Cabinet", "Drawer", "Fridge",
          "SinkBasin", "Microwave", "StoveBurner", "GarbageCan", "Stool")  # fmt: skip

WORDINGS: Mapping[str, tuple[str, ...]] = {
    "put": (
        "put the {o} {p} the {r}", "place a {o} {p} the {r}", "move the {o} to the {r}",
        "I want the {o} {p} the {r}", "bring the {o} over to the {r}",
        "there should be a {o} {p} the {r}", "{o} {p} the {r}, please",
    ),
    "heat": (
        "heat the {o} and put it {p} the {r}", "put a hot {o} {p} the {r}",
        "warm up a {o} in the microwave, then place it {p} the {r}",
        "microwave the {o} and set it {p} the {r}", "I want a heated {o} {p} the {r}",
    ),
    "cool": (
        "cool the {o} in the fridge and put it {p} the {r}", "place a chilled {o} {p} the {r}",
        "chill a {o} and bring it to the {r}", "I would like a cold {o} {p} the {r}",
        "put the {o} into the refrigerator for a while, then {p} the {r}",
    ),
    "wash": (
        "wash the {o} and put it {p} the {r}", "put a clean {o} {p} the {r}",
        "rinse a {o} in the sink, then place it {p} the {r}",
        "clean the {o} and leave it {p} the {r}", "I need a washed {o} {p} the {r}",
    ),
    "two": (
        "put two {os} {p} the {r}", "place both {os} {p} the {r}", "move 2 {os} to the {r}",
        "there should be two {os} {p} the {r}",
    ),
    "into": (
        "put the {o} in the {m} and the {m} {p} the {r}",
        "place a {m} with a {o} in it {p} the {r}",
        "set the {m} containing a {o} {p} the {r}", "move a {m} holding a {o} to the {r}",
    ),
    "slice": (
        "slice the {o} and put a slice {p} the {r}", "put a piece of {o} {p} the {r}",
        "cut the {o} and bring a slice of it to the {r}", "place a slice of {o} {p} the {r}",
    ),
    "heat slice": (
        "slice the {o}, heat a slice and put it {p} the {r}",
        "put a hot slice of {o} {p} the {r}", "place a microwaved piece of {o} {p} the {r}",
    ),
    "cool slice": (
        "slice the {o}, chill a slice and put it {p} the {r}",
        "put a cold slice of {o} {p} the {r}", "place a chilled piece of {o} {p} the {r}",
    ),
    "only heat": ("heat the {o} in the microwave", "warm up a {o}", "make the {o} hot"),
    "only cool": ("cool the {o} in the fridge", "chill a {o}", "make the {o} cold"),
    "only wash": ("wash the {o}", "rinse the {o} in the sink", "clean a {o}"),
    "only slice": ("slice the {o}", "cut up a {o}", "chop the {o} into slices"),
    "hold": ("pick up the {o}", "bring me a {o}", "take the {o} and hold it", "hand me the {o}"),
    "water": (
        "fill the {o} with water and put it {p} the {r}", "put a {o} of water {p} the {r}",
        "place a {o} full of water {p} the {r}", "I want a {o} filled with water {p} the {r}",
    ),
    "coffee": (
        "make coffee in a mug and put it {p} the {r}", "brew a coffee and serve it {p} the {r}",
        "a mug of coffee {p} the {r}", "I want a coffee {p} the {r}",
    ),
    "toast": (
        "toast a slice of bread and put it {p} the {r}", "put toasted bread {p} the {r}",
        "make toast and place it {p} the {r}",
    ),
    "fry": (
        "fry the {o} on the stove", "cook the {o} in a pan on the stove", "put the {o} in the pan "
        "and heat it on the stove",
    ),
    "open": ("open the {r}", "leave the {r} open", "I want the {r} to be open"),
    "bin": ("throw away the {o}", "put the {o} in the garbage can", "get rid of the {o}"),
}  # fmt: skip
"""Wordings of random goals. Slots: o object, p preposition, r receptacle, m inner vessel."""


@dataclass(frozen=True)
class Request:
    """A request to plan for.

    Args:
        source: `task`, `made`, `said`, `sentence` or `alfred`.
        goal: PDDL goal over the kitchen domain; empty to read it from the first wording.
    """

    id: str
    source: str
    texts: tuple[str, ...]
    goal: str = ""


@cache
def policy(forced: bool) -> SymbolicPolicy:
    """Return the planning policy; `forced` ignores AI2-THOR's placement table."""
    domain = parse_domain(data_path("domains") / "kitchen" / "domain.pddl")
    return SymbolicPolicy(load_ontology(), domain, FastDownward(2.5, 0.2), any_place=forced)


def plan_world(
    name: str, world: World, requests: Sequence[Request], forced: bool
) -> dict[str, Any]:
    planner = policy(forced)
    inventory = world.inventory()
    entries = []
    for request in requests:
        try:
            if request.goal:
                stage = Stage(request.goal)
            else:
                stages = planner.reader.goal(request.texts[0], inventory).stages
                if len(stages) != 1:
                    continue
                stage = stages[0]
            # Add the tidiness preferences, like `hvr plan`.
            found = planner.plan(
                planner.with_ends(stage.wanted) if request.goal else stage, world.graph, inventory
            )
        except HvrError:
            continue
        if found.plan.actions:
            entries.append(
                {
                    "id": request.id, "source": request.source, "texts": list(request.texts),
                    "goal": stage.wanted, "names": sorted(found.relevant.names),
                    "steps": [str(a)[1:-1] for a in found.plan.actions],
                }
            )  # fmt: skip
    return {"world": name, "entries": entries}


def drawn(scene: str, world: World, count: int) -> Iterator[Request]:
    draw = Random(f"kitchen goals {scene}")
    there = set(world.inventory().classes.values())
    ontology = load_ontology()

    def some(classes: Sequence[str]) -> str | None:
        known = [c for c in classes if c in there]
        return draw.choice(known) if known else None

    done = set()
    for _ in range(count * 4):
        kind = draw.choice(sorted(WORDINGS))
        thing = some({"slice": SLICED, "heat slice": SLICED, "cool slice": SLICED,
                      "only slice": SLICED, "heat": (*FOOD, *DISHES), "only heat": FOOD,
                      "cool": (*FOOD, *DISHES), "only cool": FOOD, "water": DISHES[:5],
                      "wash": (*FOOD, *DISHES, *TOOLS[:7]), "fry": ("Potato", "Egg"),
                      "only wash": (*FOOD, *DISHES, *TOOLS[:7])}
                     .get(kind, (*FOOD, *DISHES, *TOOLS)))  # fmt: skip
        place = some(("Fridge", "Microwave", "Drawer", "Cabinet") if kind == "open" else PLACES)
        into = some(DISHES)
        if None in (thing, place, into) or thing == into or (kind, thing, place) in done:
            continue
        done.add((kind, thing, place))
        assert thing and place and into
        on = "on" if ontology.is_a(place, "SurfaceReceptacle") else "in"
        if goal := drawn_goal(kind, thing, place, into):
            names = {"o": _label(thing), "os": _plural(_label(thing)), "r": _label(place), "p": on,
                     "m": _label(into)}  # fmt: skip
            texts = tuple(w.format(**names) for w in draw.sample(WORDINGS[kind], 3))
            yield Request(f"{scene} {kind} {thing} {place}", "made", texts, goal)
            count -= 1
            if not count:
                return


def spoken(scene: str, world: World, count: int) -> list[Request]:
    """Return requests that hvr can read; those for training kitchens name no held-out objects."""
    there = set(world.inventory().classes.values())
    if scene not in HELD_OUT:
        there -= HELD_OUT_THINGS
    found: dict[str, Request] = {}
    draw = Random(f"kitchen requests {scene}")
    drawn = said(draw, there, _labels, _plural, _preposition)
    # Draw twice as many: kinds without objects to choose from cause repetitions.
    for (name, texts), _ in zip(drawn, range(2 * count), strict=False):
        found.setdefault(name, Request(f"{scene} said {name}", "said", texts))
    return list(found.values())[:count]


def drawn_goal(kind: str, thing: str, place: str, into: str) -> str:
    o, r, m = (_type(x) for x in (thing, place, into))
    put = f"({_preposition(place)} ?o ?r)"
    marked = {"heat": "(microwaved ?o)", "cool": "(chilled ?o)", "wash": "(washed ?o)",
              "water": "(contains ?o water)"}  # fmt: skip
    if kind == "put":
        return f"(exists (?o - {o} ?r - {r}) {put})"
    if kind in marked:
        return f"(exists (?o - {o} ?r - {r}) (and {marked[kind]} {put}))"
    if kind == "two":
        other = put.replace("?o", "?q")
        return f"(exists (?o ?q - {o} ?r - {r}) (and (not (= ?o ?q)) {put} {other}))"
    if kind == "into":
        inner = f"({_preposition(into)} ?o ?m)"
        return f"(exists (?o - {o} ?m - {m} ?r - {r}) (and {inner} {put.replace('?o', '?m')}))"
    if kind in {"slice", "heat slice", "cool slice"}:
        more = {"heat slice": "(microwaved ?o)", "cool slice": "(chilled ?o)"}.get(kind, "")
        return f"(exists (?o - {o}sliced ?r - {r}) (and (present ?o) {more} {put}))"
    plain = {"only heat": "(microwaved ?o)", "only cool": "(chilled ?o)",
             "only wash": "(washed ?o)", "only slice": "(sliced ?o)", "hold": "(holding ?o)",
             "fry": "(and (stove_heated ?o) (cooked ?o))"}  # fmt: skip
    if kind == "fry" and thing == "Egg":
        return "(exists (?o - eggcracked) (and (present ?o) (cooked ?o) (stove_heated ?o)))"
    if kind in plain:
        return f"(exists (?o - {o}) {plain[kind]})"
    if kind == "coffee":
        return f"(exists (?o - mug ?r - {r}) (and (contains ?o coffee) {put}))"
    if kind == "toast":
        return f"(exists (?o - breadsliced ?r - {r}) (and (toasted ?o) {put}))"
    if kind == "open":
        return f"(exists (?r - {r}) (opened ?r))"
    return f"(exists (?o - {o} ?r - garbagecan) (in ?o ?r))"


def _type(kind: str) -> str:
    return str(load_ontology().pddl_type(kind))


def _preposition(place: str) -> str:
    return "on" if load_ontology().is_a(place, "SurfaceReceptacle") else "in"


def _label(kind: str) -> str:
    return load_ontology().label(kind)


def _labels(kind: str) -> tuple[str, ...]:
    """Return a type's label and synonyms, without plurals."""
    first, *rest = load_ontology().labels(kind)
    return (first, *(name for name in rest if name.endswith("ss") or not name.endswith("s")))


def _plural(label: str) -> str:
    if label.endswith("knife"):
        return label[:-2] + "ves"
    return label + ("es" if label.endswith(("o", "x", "sh", "ch", "s")) else "s")


def sentences() -> list[str]:
    """Return the feasible sentences of benchmarks/sentences.txt."""
    lines = (ROOT / "benchmarks" / "sentences.txt").read_text(encoding="utf-8").splitlines()
    found = (re.fullmatch(r"FloorPlan\d+ \| (?!!)\s*(.+?)\s*", line) for line in lines)
    return [m[1] for m in found if m]


def kitchen(scene: str) -> dict[str, Any]:
    tasks = [load_task(t) for t in paper_task_ids()]
    world = World(Kitchen(scene), KnowledgeGraph.create())
    requests = [Request(f"{scene} {t.id}", "task", t.sentences, t.goal)
                for t in tasks if scene in t.scenes]  # fmt: skip
    requests += drawn(scene, world, MADE)
    requests += spoken(scene, world, SAID)
    if scene in HELD_OUT:
        own = sentences()[HELD_OUT.index(scene) :: len(HELD_OUT)]
        requests += [Request(f"{scene} {t}", "sentence", (t,)) for t in own]
    planned = plan_world(scene, world, requests, forced=False)
    planned["entries"] += truths(scene, world)
    return planned


def truths(scene: str, world: World) -> Iterator[dict[str, Any]]:
    for name in paper_task_ids():
        task = load_task(name)
        if task.ground_truth.scene == scene:
            steps = task.ground_truth.steps
            inventory = world.inventory()
            names = {a for s in steps for a in s.args if a in inventory.classes}
            # Include supports and containers (two levels), controls and pieces.
            names |= {inventory.parents[n] for n in tuple(names) if n in inventory.parents}
            names |= {inventory.parents[n] for n in tuple(names) if n in inventory.parents}
            for tie in ("knob_of", "faucet_of", "piece_of"):
                names |= {n for pair in inventory.pairs(tie) if names & {*pair} for n in pair}
            yield {
                "id": f"{scene} {name} truth", "source": "task", "texts": list(task.sentences),
                "goal": task.goal, "names": sorted(names),
                "steps": [str(a)[1:-1] for a in steps],
            }  # fmt: skip


def requests_of(record: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> list[Request]:
    """Return the goals of a demonstration and of one or two others in its kitchen, as requests."""
    draw = Random(str(record["id"]))
    others = [r for r in records if r["floor_plan"] == record["floor_plan"]
              and r["pddl_params"] != record["pddl_params"]]  # fmt: skip
    target = record["pddl_params"]["object_target"]
    near = [r for r in others if r["pddl_params"]["object_target"] == target]
    wanted = [record, *draw.sample(near, min(1, len(near))), *draw.sample(others, 1)]
    requests = []
    for one in wanted:
        goal = Wanted.of(one)
        if goal is not None:
            texts = tuple(" ".join(a["task_desc"].split()) for a in one["annotations"])
            requests.append(Request(f"{record['id']} {one['id']}", "alfred", texts,
                                    goal_of(goal, kitchen_ontology())))  # fmt: skip
    return requests


def demonstration(given: tuple[Mapping[str, Any], list[Request]]) -> dict[str, Any] | None:
    """Return the plans for the world of a demonstration; None if its scene cannot be built."""
    record, requests = given
    try:
        scene = scene_from_alfred(record)
        world = World(Kitchen(scene, placement_table=False), KnowledgeGraph.create(),
                      force_put=True)  # fmt: skip
    except HvrError:
        return None
    return plan_world(f"{record['floor_plan']} {record['id']}", world, requests, forced=True)


def with_misses(
    name: str,
    entries: Sequence[Mapping[str, Any]],
    world: World,
    forced: bool,
    skip: frozenset[tuple[str, str]] = frozenset(),
) -> Iterator[dict[str, Any]]:
    """Yield the requests of a world with their plans and with plans that miss their goals."""
    inventory = world.inventory()
    domain = policy(forced).domain
    objects = [TypedName(n, (world.graph.pddl_type(n),)) for n in inventory.classes]
    plans = {e["id"]: tuple(_action(s) for s in e["steps"]) for e in entries}
    for entry in entries:
        if (name, entry["id"]) in skip:
            continue
        draw = Random(f"misses {name} {entry['id']}")
        near = [e for e in entries if e["id"] != entry["id"]]
        near = draw.sample(near, min(2, len(near)))
        names = set(entry["names"]).union(*(e["names"] for e in near))
        rest = sorted(n for n in inventory.classes if n not in names and "sliced" not in n)
        names |= set(draw.sample(rest, min(EXTRA, len(rest))))
        # An object to slice needs its pieces; two are enough.
        names |= {
            n
            for n in inventory.classes
            if n.endswith(("-1", "-2"))
            and any(inventory.true("piece_of", n, whole) for whole in tuple(names))
        }
        goal = parse_formula(entry["goal"], domain, objects, file="<goal>")
        problem = world.graph.problem(domain, "task", sorted(names), goal)
        if forced:
            problem = allow_all_places(problem, inventory.ontology, inventory.did_not_fit)
        task = Task(domain, problem)
        plan = plans[entry["id"]]
        try:
            true = causal_links((task, plan))
        except HvrError:
            continue
        wrong = [
            (m.kind, causal_links((task, m.actions)))
            for m in misses(task, plan, draw, [plans[e["id"]] for e in near])
        ]
        also = [causal_links((task, steps)) for steps in detours(task, plan, draw)]
        yield {
            "id": entry["id"], "world": name, "source": entry["source"], "texts": entry["texts"],
            "goal": entry["goal"], "true": true.to_json(),
            "wrong": [[kind, linked.to_json()] for kind, linked in wrong],
            "also": [linked.to_json() for linked in also],
            "start": sorted({str(f) for p in (true, *(p for _, p in wrong), *also)
                             for f in p.start}),
        }  # fmt: skip


def _action(text: str) -> GroundAction:
    name, *args = text.split()
    return GroundAction(name, tuple(args))


def planned_worlds(
    plans: Sequence[Path], alfred: Path
) -> Iterator[tuple[dict[str, Any], Mapping[str, Any] | None]]:
    """Yield the planned worlds, each with its demonstration's record if it has one."""
    records = {str(r["id"]): r for r in read(alfred)} if alfred.is_file() else {}
    for path in plans:
        for line in path.read_text(encoding="utf-8").splitlines():
            planned = json.loads(line)
            _, _, record = planned["world"].partition(" ")
            if not record or record in records:
                yield planned, records.get(record)


def family(given: tuple[dict[str, Any], Mapping[str, Any] | None]) -> list[dict[str, Any]]:
    planned, record = given
    if record is None:
        world = World(Kitchen(planned["world"]), KnowledgeGraph.create())
    else:
        kitchen = Kitchen(scene_from_alfred(record), placement_table=False)
        world = World(kitchen, KnowledgeGraph.create(), force_put=True)
    forced = record is not None
    return list(with_misses(planned["world"], planned["entries"], world, forced))


def started(paths: Sequence[Path], alfred: Path) -> Iterator[Example]:
    """Add missing initial facts to examples, without planning again."""
    records = {str(r["id"]): r for r in read(alfred)} if alfred.is_file() else {}
    for world, group in groupby((e for p in paths for e in read_examples(p)), lambda e: e.world):
        scene, _, record = world.partition(" ")
        if record and record not in records:
            continue
        kitchen = (
            Kitchen(scene_from_alfred(records[record]), placement_table=False)
            if record
            else Kitchen(scene)
        )
        graph = World(kitchen, KnowledgeGraph.create(), force_put=bool(record)).graph
        facts = start_of(graph.problem(policy(False).domain, "start"))
        for example in group:
            names = {n for plan in example.plans for n in plan.types}
            yield example.started(f for n in sorted(names) for f in facts.get(n, ()))


def worlds(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    engine = chosen(options)
    if options.only != "alfred":
        yield from results(kitchen, [f"FloorPlan{n}" for n in range(1, 31)], engine)
    if options.only == "kitchens":
        return
    if options.alfred.is_file():
        records, limit = list(read(options.alfred)), options.limit
        some = [records[i * len(records) // limit] for i in range(min(limit, len(records)))]
        work = [(record, requests_of(record, records)) for record in some]
        yield from (found for found in results(demonstration, work, engine) if found is not None)
    else:
        print(f"no such file: {options.alfred}; continuing without demonstrations", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("plan", "miss", "pack", "start"))
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument(
        "--plans",
        type=Path,
        nargs="+",
        default=[],
        help="input of `miss`, `pack` or `start`: output of the previous command",
    )
    parser.add_argument("--only", choices=("kitchens", "alfred"), help="worlds to `plan` in")
    parser.add_argument("--alfred", type=Path, default=DATA, help="demonstrations (.jsonl.gz)")
    parser.add_argument("--limit", type=int, default=1200, help="number of demonstrations")
    add_options(parser)
    options = parser.parse_args(arguments)
    if options.what != "plan" and not (options.plans and all(p.is_file() for p in options.plans)):
        print("give the output files of the previous command with --plans", file=sys.stderr)
        return 2
    if options.what == "pack":
        write_examples(options.output, (e for p in options.plans for e in read_examples(p)))
        return 0
    if options.what == "start":
        write_examples(options.output, started(options.plans, options.alfred))
        return 0
    with options.output.open("w", encoding="utf-8") as file:
        if options.what == "miss":
            todo = list(planned_worlds(options.plans, options.alfred))
            found = (one for all_ in results(family, todo, chosen(options)) for one in all_)
        else:
            found = worlds(options)
        for values in found:
            file.write(json.dumps(values) + "\n")
            file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
