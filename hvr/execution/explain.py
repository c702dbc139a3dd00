"""The sentence that explains a deviation, and the sounds that speak for it."""

from __future__ import annotations

from hvr.execution.failures import DeviationKind
from hvr.execution.sounds import Noise, Sound
from hvr.execution.words import opposite, say_all
from hvr.knowledge.wording import Wording
from hvr.pddl.model import Expression, GroundAction
from hvr.values import Value


class UnworkedDeviation(Value):
    """A deviation before it has been put in words.

    Args:
        kind: its kind.
        literals: the literals that should hold, and do not.
        objects: what it is about, the most telling first; for `dropped` the thing and where it
            is now; for `wrong object` what was meant and what was taken instead, or the thing,
            the place that was meant and the place that it is at; for `occupied` the place, what
            is there, and what was to go there.
        evidence: the messages of the environment.
        since: the step in which the first object was last seen, if that is not now.
    """

    kind: DeviationKind
    literals: tuple[Expression, ...]
    objects: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    since: int | None = None


class Explanation(Value):
    """Puts findings of one step in words.

    Args:
        action: the action of the step; None at the end of a plan.
        sounds: what was heard.
        wording: says what holds; hvr's own if None.
    """

    action: GroundAction | None
    sounds: tuple[Sound, ...]
    wording: Wording | None = None

    def sentence(self, finding: UnworkedDeviation) -> str:
        """Return one sentence without a full stop inside."""
        named = finding.objects
        first = named[0] if named else str(self.action)
        so = say_all([opposite(literal) for literal in finding.literals], wording=self.wording)
        message = f": {finding.evidence[0].rstrip('.')}" if finding.evidence else ""
        match finding.kind:
            case DeviationKind.DROPPED:
                where = f"; it is on {named[1]} now" if len(named) > 1 else ""
                return f"{first} is not in the hand any more{where}."
            case DeviationKind.OCCUPIED:
                inside = [n for n in named[1:-1] if n != named[-1]]
                by = f": {', '.join(inside[:3])} is there" if inside else ""
                return f"{first} has no room for {named[-1]}{by}."
            case DeviationKind.BLOCKED:
                return f"{first} cannot be got at by {self.action}{message}."
            case DeviationKind.ACTION_FAILED:
                return f"{self.action} was refused{message}."
            case DeviationKind.MISSING_PRECONDITION:
                return f"{self.action} is not possible, because {so or 'a condition is unmet'}."
            case DeviationKind.NO_EFFECT:
                return f"{self.action} was reported as done and changed nothing: {so}."
            case DeviationKind.WRONG_OBJECT if len(named) == 1:
                return f"{self.action} acted on something else than {first}{message}."
            case DeviationKind.WRONG_OBJECT if len(named) == 2:
                return f"{self.action} acted on {named[1]} instead of {first}: {so}."
            case DeviationKind.WRONG_OBJECT:
                return f"{first} is at {named[-1]} instead of {named[1]}."
            case DeviationKind.WRONG_EFFECT:
                return f"{self.action} did not do what it should: {so}."
            case DeviationKind.CHANGED_BY_OTHERS:
                return f"Something else than {self.action} has changed the room: {so}."
            case DeviationKind.MISPERCEIVED:
                return f"It was believed otherwise since step {finding.since}: {so}."
            case DeviationKind.MISSING_OBJECT:
                return f"{first} is not where it was last seen, in step {finding.since}: {so}."
            case DeviationKind.GOAL_UNMET:
                return f"The plan is done and the goal does not hold: {so}."
            case DeviationKind.CONSTRAINT_BROKEN:
                return f"What was to be kept is broken: {so}."

    def heard(self, finding: UnworkedDeviation) -> tuple[str, ...]:
        """Return the sounds that speak for a finding, in words."""
        telling = _TELLING.get(finding.kind, frozenset())
        types = {name.rpartition("-")[0] for name in finding.objects}
        return tuple(
            f"heard: {sound}" for sound in self.sounds
            if sound.noise in telling and sound.object_type.lower() in types
        )  # fmt: skip


_TELLING = {
    DeviationKind.DROPPED: frozenset({Noise.DROPPED, Noise.BROKEN, Noise.POURED}),
    DeviationKind.WRONG_OBJECT: frozenset(Noise),
    DeviationKind.WRONG_EFFECT: frozenset(Noise),
    DeviationKind.CHANGED_BY_OTHERS: frozenset(Noise),
}
