"""Metrics of the service, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator


class Metrics:
    """Counts answers and their time.

    Args:
        jobs: Returns the number of jobs by state.
    """

    def __init__(self, jobs: Callable[[], Counter[str]]) -> None:
        self._jobs = jobs
        self._answers: Counter[tuple[str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._answers[path, status] += 1
        self._seconds[path] += seconds

    def text(self, pending: int) -> str:
        """Return all metrics; `pending` is the number of requests being answered."""
        return "\n".join(self._lines(pending)) + "\n"

    def _lines(self, pending: int) -> Iterator[str]:
        yield "# HELP hvr_answers_total Answers by path and status."
        yield "# TYPE hvr_answers_total counter"
        for (path, status), count in sorted(self._answers.items()):
            yield f'hvr_answers_total{{path="{path}",status="{status}"}} {count}'
        yield "# HELP hvr_answer_seconds_total Time spent on answers by path."
        yield "# TYPE hvr_answer_seconds_total counter"
        for path, seconds in sorted(self._seconds.items()):
            yield f'hvr_answer_seconds_total{{path="{path}"}} {seconds:.6f}'
        yield "# HELP hvr_pending_requests Requests that are being answered."
        yield "# TYPE hvr_pending_requests gauge"
        yield f"hvr_pending_requests {pending}"
        yield "# HELP hvr_jobs Jobs by state."
        yield "# TYPE hvr_jobs gauge"
        counts = self._jobs()
        for state in ("queued", "running", "done", "failed", "cancelled"):
            yield f'hvr_jobs{{state="{state}"}} {counts[state]}'
