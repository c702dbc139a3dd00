"""Write forty problems of the domain deliveries into the folder problems."""

import random
from itertools import pairwise
from pathlib import Path

folder = Path(__file__).parent / "problems"
folder.mkdir(exist_ok=True)
for number in range(1, 41):
    draw = random.Random(number)
    places = [f"s{n}" for n in range(4 + number // 4)]
    parcels = [f"x{n}" for n in range(2 + number // 8)]
    roads = [*pairwise(places), *(draw.sample(places, 2) for _ in places)]
    ways = " ".join(f"(road {a} {b}) (road {b} {a})" for a, b in roads)
    lies = " ".join(f"(lies {x} {draw.choice(places)})" for x in parcels)
    goal = " ".join(f"(lies {x} {draw.choice(places)})" for x in parcels)
    (folder / f"p{number:02}.pddl").write_text(
        f"(define (problem p{number:02}) (:domain deliveries)\n"
        f"  (:objects v1 v2 - van {' '.join(parcels)} - parcel {' '.join(places)} - place)\n"
        f"  (:init (at v1 s0) (at v2 s1) {ways} {lies})\n  (:goal (and {goal})))\n"
    )
