"""Measure query times of the knowledge graph.

    python benchmarks/knowledge.py [--triples 1000000] [--seed 0] [--repeat 50] [--json]

The script times retrieval queries on one kitchen, in this process and in a separate one. It also
times creating, updating and opening a kitchen's graph in a folder, and queries on a store of a
million triples from many kitchens. Finally it compares two-hop queries over 30,000 triples in
Oxigraph and in rdflib's store. All graphs are synthetic and determined by the seed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from inputs import measured
from pyoxigraph import Quad, Store

from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.query import QueryLimits, run_query
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.knowledge.terms import PREFIXES, Triple
from hvr.knowledge.triples import SceneReader

FURNITURE = {
    "CounterTop": 3, "DiningTable": 1, "Cabinet": 14, "Drawer": 8, "Fridge": 1, "Microwave": 1,
    "SinkBasin": 1, "StoveBurner": 4, "Toaster": 1, "CoffeeMachine": 1, "GarbageCan": 1,
    "Shelf": 3, "Faucet": 1, "StoveKnob": 4, "LightSwitch": 1, "Floor": 1,
}  # fmt: skip
"""Contents of a synthetic kitchen, similar to AI2-THOR's kitchens."""
MOVABLE = (
    "Apple", "Bowl", "Bread", "ButterKnife", "Cup", "DishSponge", "Egg", "Fork", "Kettle",
    "Knife", "Ladle", "Lettuce", "Mug", "Pan", "PepperShaker", "Plate", "Pot", "Potato",
    "SaltShaker", "SoapBottle", "Spatula", "Spoon", "Tomato", "WineBottle",
)  # fmt: skip


@dataclass(frozen=True)
class Timing:
    name: str
    rows: int
    min: float
    median: float
    max: float


def kitchen(number: int, rng: random.Random) -> SceneGraph:
    """Return a kitchen with random contents; the names of its objects begin with `number`."""
    reader = SceneReader(load_ontology())
    objects: dict[str, SceneObject] = {}

    def add(kind: str, index: int, *parents: str) -> str:
        name = f"s{number}-{kind.lower()}-{index}"
        attributes = {
            "isOpen": rng.random() < 0.2,
            "isToggled": rng.random() < 0.1,
            "isDirty": rng.random() < 0.3,
            "isFilledWithLiquid": rng.random() < 0.1,
            "temperature": rng.choice(("RoomTemp", "RoomTemp", "Hot", "Cold")),
        }
        objects[name] = SceneObject(name, kind, f"{kind}|{number}|{index}", attributes, parents)
        return name

    places: dict[str, list[str]] = {}
    for kind, count in FURNITURE.items():
        places[kind] = [add(kind, i + 1) for i in range(count)]
    dishes: dict[str, list[str]] = {}
    for kind in sorted(MOVABLE, key=lambda m: "PortableReceptacle" not in _above(reader, m)):
        allowed = reader.ontology.related("placeableIn", kind)
        inside = [n for c in sorted(allowed) for n in (*places.get(c, ()), *dishes.get(c, ()))]
        name = add(kind, 1, rng.choice(inside))
        if "PortableReceptacle" in _above(reader, kind):
            dishes[kind] = [name]
    return SceneGraph(f"Scene{number}", objects)


def _above(reader: SceneReader, cls: str) -> frozenset[str]:
    return reader.ontology.superclasses(cls)


def kitchen_triples(scene: SceneGraph) -> set[Triple]:
    """Return the triples of a kitchen, including inferred ones."""
    ontology = load_ontology()
    reader = SceneReader(ontology)
    known = {
        o.name: frozenset(
            a for c in reader.types(o) for a in ontology.superclasses(c, reflexive=True)
        )
        for o in scene.objects.values()
    }
    triples: list[Triple] = [t for o in reader.known(scene) for t in reader.static(o, scene.scene)]
    triples += reader.observed(scene, known)
    return ontology.rules.entail(triples)


def queries(scene: int) -> dict[str, str]:
    """Return the retrieval queries about one kitchen in a store."""
    mug = f"o:s{scene}-mug-1"
    return {
        "object": f"""SELECT ?p ?v {{
            {{ {mug} ?p ?v . ?p k:thorField ?field }}
            UNION {{ {mug} a ?v . ?v k:pddlPredicate ?predicate . BIND(rdf:type AS ?p) }}
            UNION {{ {mug} k:locatedIn ?v . BIND(k:locatedIn AS ?p) }} }}""",
        "class": f"""SELECT ?object ?place {{
            ?object k:inScene o:Scene{scene} ; a k:Tableware .
            OPTIONAL {{ ?object k:locatedIn ?place }} }}""",
        "two hops": f"""SELECT ?object ?dish ?place {{
            ?place k:inScene o:Scene{scene} ; a k:Furniture .
            ?dish k:locatedIn ?place . ?object k:locatedIn ?dish }}""",
    }


def measure(
    ask: Callable[[str], int], texts: Callable[[int], dict[str, str]], scenes: int, repeat: int,
    rng: random.Random,
) -> list[Timing]:  # fmt: skip
    """Time every query on `repeat` random kitchens."""
    result = []
    for name in texts(0):
        times, rows = [], 0
        for _ in range(repeat):
            text = texts(rng.randrange(scenes))[name]
            start = time.perf_counter()
            rows += ask(text)
            times.append((time.perf_counter() - start) * 1000)
        result.append(
            Timing(name, round(rows / repeat), min(times), statistics.median(times), max(times))
        )
    return result


def one_kitchen(seed: int, repeat: int) -> tuple[int, dict[str, list[Timing]]]:
    """Return the size of a graph that hvr built, and the times of the queries on it."""
    rng = random.Random(seed)
    with KnowledgeGraph.create() as graph:
        graph.add_scene(kitchen(0, rng))
        limits = QueryLimits()
        return len(graph), {
            "this process": measure(lambda q: len(graph.query(q)), queries, 1, repeat, rng),
            "its own process": measure(
                lambda q: len(graph.query(q, limits)), queries, 1, max(3, repeat // 5), rng
            ),
        }


def in_a_folder(place: Path, seed: int, repeat: int) -> list[Timing]:
    """Time creating, updating and opening a kitchen's graph, in memory and in a folder."""
    scene = kitchen(0, random.Random(seed))
    times: dict[str, list[float]] = defaultdict(list)

    @contextmanager
    def timed(name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        times[name].append((time.perf_counter() - start) * 1000)

    for number in range(repeat):
        path = place / str(number)
        for name, kept in (("memory", None), ("folder", path)):
            with timed(f"make, {name}"):
                graph = KnowledgeGraph.create(kept)
            with graph:
                with timed(f"add the scene, {name}"):
                    graph.add_scene(scene)
                with timed(f"a mark, {name}"):
                    graph.set_marks([("s0-mug-1", "washed")])
        with timed("open the folder"):
            KnowledgeGraph.open(path, read_only=True).close()
    return [Timing(name, repeat, min(t), statistics.median(t), max(t)) for name, t in times.items()]


def many_kitchens(triples: int, seed: int, repeat: int) -> tuple[int, float, list[Timing]]:
    """Return the size of a store of many kitchens, its build time, and the times of the queries."""
    rng = random.Random(seed)
    start = time.perf_counter()
    store = Store()
    store.bulk_extend(Quad(*t) for t in load_ontology().closure)  # type: ignore[arg-type]
    scenes = 0

    def quads() -> Iterator[Quad]:
        nonlocal scenes
        made = len(load_ontology().closure)
        while made < triples * 1.01:  # the kitchens share a few triples
            found = kitchen_triples(kitchen(scenes, rng))
            made += len(found)
            scenes += 1
            for t in found:
                yield Quad(*t)  # type: ignore[arg-type]

    store.bulk_extend(quads())
    seconds = time.perf_counter() - start
    timings = measure(lambda q: len(run_query(store, q)), queries, scenes, repeat, rng)
    everywhere = {
        "class, all kitchens": "SELECT (COUNT(?o) AS ?n) { ?o a k:Drinkware ; k:isDirty true }"
    }
    timings += measure(
        lambda q: len(run_query(store, q)), lambda _: everywhere, 1, max(3, repeat // 10), rng
    )
    return len(store), seconds, timings


def against_rdflib(seed: int, repeat: int) -> tuple[int, dict[str, list[Timing]]]:
    """Time two-hop queries over 30,000 triples in Oxigraph and in rdflib's memory store."""
    import rdflib

    rng = random.Random(seed)
    triples: set[Triple] = set(load_ontology().closure)
    scenes = 0
    while len(triples) < 30_000:
        triples |= kitchen_triples(kitchen(scenes, rng))
        scenes += 1
    store = Store()
    store.bulk_extend(Quad(*t) for t in triples)  # type: ignore[arg-type]
    text = "\n".join(f"{s} {p} {o} ." for s, p, o in triples)
    graph = rdflib.Graph().parse(data=text, format="nt")

    def two_hops(scene: int) -> dict[str, str]:
        return {"two hops": queries(scene)["two hops"]}

    def ask_rdflib(query: str) -> int:
        return len(list(graph.query(query, initNs=PREFIXES)))

    return len(triples), {
        "Oxigraph": measure(
            lambda q: len(run_query(store, q)), two_hops, scenes, repeat, random.Random(seed)
        ),
        "rdflib": measure(ask_rdflib, two_hops, scenes, max(3, repeat // 5), random.Random(seed)),
    }


def start_up() -> dict[str, float]:
    """Return the milliseconds to import the graph and load the ontology, best of 5 processes."""
    code = (
        "import time; a = time.perf_counter(); import hvr.knowledge.graph; "
        "b = time.perf_counter(); from hvr.knowledge.ontology import load_ontology; "
        "load_ontology().closure; c = time.perf_counter(); "
        "print((b - a) * 1000, (c - b) * 1000)"
    )
    runs = [
        [float(x) for x in subprocess.check_output([sys.executable, "-c", code]).split()]
        for _ in range(5)
    ]
    return {"import": min(r[0] for r in runs), "load and closure": min(r[1] for r in runs)}


def machine() -> dict[str, Any]:
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [x for x in info.read_text().splitlines() if x.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{p: version(p) for p in ("pyoxigraph", "rdflib", "oxrdflib", "owlready2", "reasonable")},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report: dict[str, Any] = {"machine": machine(), "seed": options.seed, "repeat": options.repeat}
    report["start-up (ms)"] = start_up()
    size, places = one_kitchen(options.seed, options.repeat)
    for name, timings in places.items():
        report[f"one kitchen, {name}"] = {
            "triples": size, "queries": [asdict(t) for t in timings],
        }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        timings = in_a_folder(Path(folder), options.seed, options.repeat)
        report["keeping a kitchen"] = {"triples": size, "queries": [asdict(t) for t in timings]}
    size, seconds, timings = many_kitchens(options.triples, options.seed, options.repeat)
    report["many kitchens"] = {
        "triples": size, "build seconds": seconds, "queries": [asdict(t) for t in timings],
    }  # fmt: skip
    size, both = against_rdflib(options.seed, options.repeat)
    for name, timings in both.items():
        report[f"30,000 triples, {name}"] = {
            "triples": size, "queries": [asdict(t) for t in timings],
        }  # fmt: skip
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for name, part in report.items():
        if isinstance(part, dict) and "queries" in part:
            built = f", built in {part['build seconds']:.1f} s" if "build seconds" in part else ""
            print(f"\n{name} ({part['triples']} triples{built})")
            for q in part["queries"]:
                print(
                    f"  {q['name']:<22} {q['rows']:>4} rows   min {q['min']:8.2f}   "
                    f"median {q['median']:8.2f}   max {q['max']:8.2f} ms"
                )
        else:
            print(f"{name}: {part}")


if __name__ == "__main__":
    sys.exit(measured(main))
