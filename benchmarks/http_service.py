"""Compare the validations per second of `hvr serve` and of `hvr validate --serve`.

    python benchmarks/http_service.py [--requests 500] [--clients 4]

Both validate the same plan of examples/blocks, given as texts, in one run: over loopback by HTTP
with several clients, and through a pipe with one. The time counts from the first request after a
few that are not measured.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conditions import conditions

BLOCKS = Path(__file__).resolve().parents[1] / "examples" / "blocks"
NAMES = {"domain": "domain.pddl", "problem": "problem.pddl", "plan": "plan.txt"}


def texts() -> dict[str, str]:
    return {key: (BLOCKS / name).read_text(encoding="utf-8") for key, name in NAMES.items()}


def by_http(requests: int, clients: int) -> tuple[list[float], float]:
    """Return the seconds of each request and of the whole run."""
    command = [sys.executable, "-m", "hvr", "serve", "--port", "0", "--root", str(BLOCKS)]
    environment = {**os.environ, "HVR_SERVE_TOKEN": "token"}
    body = json.dumps(texts() | {"advise": False})
    headers = {"authorization": "Bearer token", "content-type": "application/json"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            port = int(server.stderr.readline().rpartition(":")[2])

            def ask(count: int) -> list[float]:
                connection = http.client.HTTPConnection("127.0.0.1", port)
                took = []
                for _ in range(count):
                    begun = time.perf_counter()
                    connection.request("POST", "/v1/validate", body, headers)
                    answer = connection.getresponse()
                    answer.read()
                    if answer.status != 200:
                        raise SystemExit(f"status {answer.status}")
                    took.append(time.perf_counter() - begun)
                return took

            with ThreadPoolExecutor(clients) as pool:
                list(pool.map(ask, [2] * clients))  # the workers start
                begun = time.perf_counter()
                parts = list(pool.map(ask, [requests // clients] * clients))
                seconds = time.perf_counter() - begun
        finally:
            server.terminate()
    return [took for part in parts for took in part], seconds


def by_pipe(requests: int) -> tuple[list[float], float]:
    """Return the seconds of each request and of the whole run."""
    line = json.dumps(texts()) + "\n"
    took = []
    with subprocess.Popen(
        [sys.executable, "-m", "hvr", "validate", "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            for number in range(requests + 1):
                begun = time.perf_counter()
                server.stdin.write(line)
                server.stdin.flush()
                if "outcome" not in server.stdout.readline():
                    raise SystemExit("no verdict")
                if number:  # the first request waits for the process to start
                    took.append(time.perf_counter() - begun)
        finally:
            server.terminate()
    return took, sum(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--clients", type=int, default=4)
    args = parser.parse_args()
    print(conditions())
    print("| way | requests | validations a second | median, ms | slowest, ms |")
    print("| --- | ---: | ---: | ---: | ---: |")
    _row("`hvr validate --serve`, 1 client", *by_pipe(args.requests))
    _row(f"`hvr serve`, {args.clients} clients", *by_http(args.requests, args.clients))


def _row(way: str, took: list[float], seconds: float) -> None:
    middle, worst = 1000 * statistics.median(took), 1000 * max(took)
    print(f"| {way} | {len(took)} | {len(took) / seconds:.0f} | {middle:.1f} | {worst:.1f} |")


if __name__ == "__main__":
    main()
