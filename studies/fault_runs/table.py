"""Tables of the results: one by kind of fault, one for runs without faults."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from studies.detection_scoring import RIGHT, rates
from studies.fault_runs.runs import CRASHED, Row

_HEAD = (
    f"{'fault':18} {'runs':>5} {'obs.':>5} {'recall':>7} {'later':>6} {'kind':>7} "
    f"{'prec.':>7} {'recov.':>7} {'extra':>6}"
)


def by_kind(rows: Sequence[Row]) -> str:
    """Return a table with one row per kind of fault.

    Columns:
        * number of runs with an injected fault, and of those with an observable one;
        * share of the observable faults noticed in the same step, number noticed only later, and
          share noticed in the same step with a correct kind;
        * share of the failures of the correct kinds that a fault of this kind caused;
        * share of all runs that reached the goal, and the median number of extra steps.
    """
    happened = [r for r in rows if r.injected]
    seen = [r for r in happened if r.observable]
    detections = [r.detection for r in seen]
    lines = [_HEAD]
    for kind in (*dict.fromkeys(r.kind for r in happened), "all"):
        runs = [r for r in happened if kind in (r.kind, "all")]
        shown = [r for r in seen if kind in (r.kind, "all")]
        detected = [r.detection for r in shown]
        in_time = sum(d.in_time for d in detected)
        later = sum(d.noticed is not None and not d.in_time for d in detected)
        right = sum(d.in_time and d.right_kind for d in detected)
        precision = None if kind == "all" else rates(kind, detections).precision
        reached = [r for r in runs if r.reached]
        extra = f"{statistics.median(r.extra for r in reached):g}" if reached else "-"
        lines.append(
            f"{kind:18} {len(runs):>5} {len(shown):>5} {share(in_time, len(shown)):>7} "
            f"{later:>6} {share(right, len(shown)):>7} "
            f"{'-' if precision is None else f'{precision:.1%}':>7} "
            f"{share(len(reached), len(runs)):>7} {extra:>6}"
        )
    unseen = [r for r in happened if not r.observable]
    alarms = sum(r.noticed is not None for r in unseen)
    early = sum(len(r.early) for r in happened)
    lines.append(
        f"faults not injected: {len(rows) - len(happened)}; without effect on the task: "
        f"{len(unseen)}, of which noticed: {alarms}; failures reported before the fault: {early}"
    )
    shown = [r for r in seen if r.visible]
    ever = sum(r.noticed is not None for r in shown)
    false = [r for r in rows if r.reached and not r.holds and not r.unseen]
    lines.append(
        f"in the robot's view at some time: {len(shown)}, of which noticed ever: "
        f"{share(ever, len(shown))}; recovered: "
        f"{share(sum(r.reached and r.holds for r in happened), len(happened))}; "
        f"false successes: {len(false)}"
    )
    alarms = [r for r in rows if r.false and r.kind != "wrong_perception"]
    lines.append(f"false alarms: {sum(len(r.false) for r in alarms)} in {len(alarms)} runs")
    crashed = [r for r in rows if r.reason.startswith(CRASHED)]
    lines += [f"{r.key} {r.reason}" for r in crashed]
    return "\n".join(lines)


def confusion(rows: Sequence[Row]) -> str:
    """Return the kinds reported for faults noticed late or with a wrong kind."""
    lines = []
    seen = [r for r in rows if r.injected and r.observable]
    for kind in dict.fromkeys(r.kind for r in seen):
        wrong: Counter[str] = Counter()
        for row in (r for r in seen if r.kind == kind):
            detection = row.detection
            if not detection.in_time:
                wrong["nothing in that step"] += 1
            elif not detection.right_kind:
                wrong[" + ".join(row.reported)] += 1
        if wrong:
            right = " or ".join(sorted(k.value for k in RIGHT[kind]))
            reported = ", ".join(f"{what} {n}" for what, n in wrong.most_common())
            lines.append(f"{kind}: {right} expected, reported: {reported}")
    return "\n".join(lines)


def without_faults(rows: Sequence[Row]) -> str:
    """Return two table rows: for a perfect and for a noisy sensor."""
    lines = []
    for kind, name in (("none", "perfect sensor"), ("noise", "noisy sensor")):
        runs = [r for r in rows if r.kind == kind]
        if not runs:
            continue
        alarms = sum(len(r.early) for r in runs)
        steps = sum(r.steps for r in runs)
        line = (
            f"{name}: {len(runs)} runs, {steps} steps, {alarms} false alarms, "
            f"{sum(r.reached for r in runs)} reached"
        )
        if kind == "noise":
            line += (
                f"; {sum(r.wrong for r in runs)} wrong readings, "
                f"{sum(r.looks for r in runs)} further looks"
            )
        lines.append(line)
    return "\n".join(lines)


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"
