"""Compare query times of a graph server that holds many runs with those of an in-process store.

    python benchmarks/graph_server.py [--triples 10000,100000,1000000] [--repeat 50] [--json]
    python benchmarks/graph_server.py --triples 10000000 --bulk
    python benchmarks/graph_server.py --store virtuoso+http://localhost:8890

Each run is a synthetic kitchen in its own named graph, next to one graph with the ontology. Both
stores hold the same triples and receive the same queries in turn. Without --store, the script
starts Oxigraph's server (package oxigraph) with its data in a folder; with it, the script replaces
the graphs that an earlier measurement left on that server. With --bulk, nothing is sent: one
N-Quads file is loaded into the in-process store, and Oxigraph's server receives a copy of it.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conditions import conditions
from inputs import measured
from knowledge import kitchen, kitchen_triples, queries
from pyoxigraph import NamedNode, Quad, RdfFormat, Store, serialize

from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.sparql_server import ONTOLOGY, RUN, ServerAddress, SparqlServer
from hvr.knowledge.terms import PREFIXES

_ONTOLOGY = f"{ONTOLOGY}measured"


def texts(scene: int) -> dict[str, str]:
    """Return the queries of benchmarks/knowledge.py, and of one prompt, about a run."""
    names = ("mug", "plate", "fridge", "pan", "knife", "apple", "sinkbasin", "microwave", "egg")
    values = " ".join(f"o:s{scene}-{name}-1" for name in names)
    return {
        **queries(scene),
        "nine objects of a prompt": f"""SELECT ?o ?p ?v WHERE {{
            VALUES ?o {{ {values} }}
            {{ ?p k:pddlPredicate ?predicate . ?o ?p ?v }}
            UNION {{ ?o a ?v . ?v k:pddlPredicate ?predicate . BIND(rdf:type AS ?p) }}
            UNION {{ ?o k:temperature ?v . BIND(k:temperature AS ?p) }} }}""",
    }


HISTORY = """SELECT ?run ?cabinet (COUNT(?thing) AS ?things) {
    GRAPH ?run { ?cabinet a k:Cabinet . ?thing k:in ?cabinet }
} GROUP BY ?run ?cabinet HAVING (COUNT(?thing) >= 3)"""
"""Query for the cabinets that contained at least three objects, across runs."""


@contextmanager
def server(store: str | None, place: Path) -> Iterator[SparqlServer]:
    if store is not None:
        import os

        with SparqlServer(ServerAddress.read(store, os.environ), 600.0) as reached:
            yield reached
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    beside = Path(sys.executable).with_name("oxigraph")
    program = beside if beside.is_file() else shutil.which("oxigraph")
    if program is None:
        raise SystemExit("Oxigraph's server is not installed: pip install oxigraph")
    words = [str(program), "serve", "--bind", f"127.0.0.1:{port}", "--location", str(place)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        with SparqlServer(ServerAddress.read(f"http://127.0.0.1:{port}", {}), 600.0) as reached:
            yield reached
    finally:
        process.kill()
        process.wait()


def runs(triples: int, seed: int) -> Iterator[tuple[int, list[Quad]]]:
    """Yield kitchens as run graphs until there are enough triples."""
    rng = random.Random(seed)
    made = number = 0
    while made < triples:
        graph = NamedNode(f"{RUN}{number}")
        quads = [Quad(*t, graph) for t in kitchen_triples(kitchen(number, rng))]  # type: ignore[arg-type]
        yield number, quads
        made, number = made + len(quads), number + 1


def load(triples: int, seed: int, place: Path, far: SparqlServer) -> tuple[Store, dict[str, Any]]:
    """Fill both stores, and return the local one and the load statistics."""
    near = Store(str(place))
    closure = [Quad(*t, NamedNode(_ONTOLOGY)) for t in load_ontology().closure]  # type: ignore[arg-type]
    seconds = {"embedded": 0.0, "server": 0.0}

    def both(quads: list[Quad], graph: str) -> None:
        text = serialize([q.triple for q in quads], format=RdfFormat.N_TRIPLES)
        assert text is not None
        start = time.perf_counter()
        near.bulk_extend(quads)
        middle = time.perf_counter()
        far.put(graph, text)
        seconds["embedded"] += middle - start
        seconds["server"] += time.perf_counter() - middle

    both(closure, _ONTOLOGY)
    size, count = len(closure), 0
    for number, quads in runs(triples, seed):
        both(quads, f"{RUN}{number}")
        size, count = size + len(quads), number + 1
    return near, {"triples": size, "runs": count, "load seconds": seconds}


def bulk(triples: int, seed: int, place: Path, copy: Path) -> tuple[Store, dict[str, Any]]:
    """Fill the local store from one file, and copy its folder for the server; see `load`."""
    closure = [Quad(*t, NamedNode(_ONTOLOGY)) for t in load_ontology().closure]  # type: ignore[arg-type]
    file = place.with_suffix(".nq")
    size, count = len(closure), 0
    with file.open("wb") as target:
        serialize(closure, target, format=RdfFormat.N_QUADS)
        for number, quads in runs(triples, seed):
            serialize(quads, target, format=RdfFormat.N_QUADS)
            size, count = size + len(quads), number + 1
    near = Store(str(place))
    start = time.perf_counter()
    near.bulk_load(path=str(file), format=RdfFormat.N_QUADS)
    seconds = time.perf_counter() - start
    near.flush()
    megabytes = file.stat().st_size / 1e6
    file.unlink()
    del near
    shutil.copytree(place, copy)
    disk = sum(f.stat().st_size for f in place.rglob("*") if f.is_file()) / 1e6
    about = {"triples": size, "runs": count, "load seconds": {"both, at once": seconds},
             "megabytes as N-Quads": megabytes, "megabytes on disk": disk}  # fmt: skip
    return Store(str(place)), about


def ask(near: Store, far: SparqlServer, count: int, repeat: int, seed: int) -> list[dict[str, Any]]:
    """Time each query in both stores in turn, and check that the results are equal."""
    rng = random.Random(seed)
    rows = []
    for name in (*texts(0), "history of all runs"):
        whole = name not in texts(0)
        times: dict[str, list[float]] = {"embedded": [], "server": []}
        found = 0
        for _ in range(max(3, repeat // 10) if whole else repeat):
            number = rng.randrange(count)
            text = HISTORY if whole else texts(number)[name]
            graphs = () if whole else (f"{RUN}{number}", _ONTOLOGY)
            start = time.perf_counter()
            here = len(list(near.query(text, prefixes=PREFIXES, default_graph=_nodes(graphs))))  # type: ignore[arg-type]
            middle = time.perf_counter()
            there = len(far.query(text, graphs=graphs))
            times["embedded"].append((middle - start) * 1000)
            times["server"].append((time.perf_counter() - middle) * 1000)
            assert here == there, (name, here, there)
            found += here
        for store, t in times.items():
            spent = {"median": statistics.median(t), "max": max(t)}
            rows.append({"query": name, "store": store, "rows": round(found / len(t)), **spent})
    return rows


def _nodes(graphs: tuple[str, ...]) -> list[NamedNode] | None:
    return [NamedNode(g) for g in graphs] or None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--triples", default="10000,100000,1000000")
    parser.add_argument("--repeat", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--store", metavar="URL", help="a running server")
    source.add_argument("--bulk", action="store_true", help="load everything at once, from a file")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report: dict[str, Any] = {"conditions": conditions(options.seed), "sizes": []}
    for triples in map(int, options.triples.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            here, there = Path(folder) / "embedded", Path(folder) / "server"
            near = loaded = None
            if options.bulk:
                near, loaded = bulk(triples, options.seed, here, there)
            with server(options.store, there) as far:
                if near is None or loaded is None:
                    near, loaded = load(triples, options.seed, here, far)
                loaded["queries"] = ask(near, far, loaded["runs"], options.repeat, options.seed)
                loaded["megabytes of memory"] = round(
                    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                )
            report["sizes"].append(loaded)
            del near
    if options.json:
        print(json.dumps(report, indent=2))
        return
    print(report["conditions"])
    for loaded in report["sizes"]:
        seconds = ", ".join(f"{k} {v:.1f} s" for k, v in loaded["load seconds"].items())
        print(f"\n{loaded['triples']} triples in {loaded['runs']} runs; loaded: {seconds}")
        print(", ".join(f"{v:,.0f} {k}" for k, v in loaded.items() if k.startswith("megabytes")))
        for row in loaded["queries"]:
            print(
                f"  {row['query']:<26} {row['store']:<9} {row['rows']:>6} rows   "
                f"median {row['median']:9.2f}   max {row['max']:9.2f} ms"
            )


if __name__ == "__main__":
    sys.exit(measured(main))
