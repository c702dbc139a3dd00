"""Co-occurrence statistics: counts of tool paths in the training plans (GNNVerifier, 3.3.1)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Path = tuple[str, ...]
LONGEST = 4
"""Tools in the longest path that is counted."""


@dataclass(frozen=True)
class PathCounts:
    """Counts of paths of two to four consecutive tools.

    Args:
        counts: f_n of section 3.3.1 for n = 2, 3, 4, by path.
    """

    counts: Mapping[Path, int] = field(default_factory=dict)
    _ends: Mapping[tuple[str, str], tuple[Path, ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        ends: dict[tuple[str, str], list[Path]] = {}
        for path in self.counts:
            if len(path) > 2:
                ends.setdefault((path[0], path[-1]), []).append(path)
        object.__setattr__(self, "_ends", {k: tuple(v) for k, v in ends.items()})

    def of(self, path: Sequence[str], own: Mapping[Path, int] | None = None) -> int:
        """Return f_n of a path, less its count in `own`."""
        key = tuple(path)
        count = self.counts.get(key, 0)
        return max(count - own.get(key, 0), 0) if own else count

    def pairwise(self, source: str, target: str, own: Mapping[Path, int] | None = None) -> float:
        """Return log(1 + f_2(t_u, t_v)), section 3.3.3."""
        return math.log1p(self.of((source, target), own))

    def multi_step(self, source: str, target: str, own: Mapping[Path, int] | None = None) -> float:
        """Return m(u, v) of equation 5.

        The maximum of log(1 + f_n(π)) over paths π of three or four tools from t_u to t_v.
        """
        paths = self._ends.get((source, target), ())
        return math.log1p(max((self.of(p, own) for p in paths), default=0))

    def usual_between(self, source: str, target: str) -> Path:
        """Return the commonest tools between two, if commoner than none in between."""
        paths = self._ends.get((source, target), ())
        best = max(paths, key=lambda p: (self.counts[p], -len(p), p), default=())
        return best[1:-1] if best and self.counts[best] > self.of((source, target)) else ()


def paths_of(tools: Sequence[str]) -> Counter[Path]:
    """Return the counts of paths of two to four tools in one sequence."""
    return Counter(
        tuple(tools[i : i + n]) for n in range(2, LONGEST + 1) for i in range(len(tools) - n + 1)
    )


def count_paths(plans: Iterable[Sequence[str]]) -> PathCounts:
    """Return the counts of paths over plans, each a sequence of ids of tools."""
    total: Counter[Path] = Counter()
    for tools in plans:
        total.update(paths_of(tools))
    return PathCounts(dict(total))
