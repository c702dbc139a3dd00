"""Detection of deviations: compare the expected and the observed outcome of one step.

The functions here neither act nor keep state.

A refused step should have changed nothing and is compared with the state before it. A
completed step is compared with the effects that the domain predicts. Each difference gets one
explanation, the first that fits: the held object was lost; the action was refused; an effect did
not occur; another agent changed the rest, or the belief was wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from hvr.execution.deviations import (
    PLACE_PREDICATES,
    Deviation,
    DeviationKind,
    Side,
    UnexplainedDifferences,
    atom_of,
    subjects,
)
from hvr.execution.explanation import Explanation, RawDeviation, classify_refusal
from hvr.execution.observation import Expected, Observed, SoundKind, Truth
from hvr.knowledge.wording import Wording
from hvr.pddl.formulas import Atom, Expression, Not
from hvr.pddl.model import GroundAction
from hvr.validation.report import ValidationReport
from hvr.worlds.thor.types import FLOOR


def detect(
    step: int, action: GroundAction, expected: Expected, observed: Observed
) -> tuple[Deviation, ...]:
    """Return every deviation from the expected outcome of one step."""
    differences = UnexplainedDifferences(action, expected, observed)
    if observed.success and not differences:
        return ()
    search = _Diagnosis(step, differences)
    # The order matters: each search removes the differences that it explains.
    search.dropped()
    if observed.success:
        search.missing_effects()
    else:
        search.refused()
    search.remaining_differences()
    return tuple(search.deviations)


def not_applicable(step: int, action: GroundAction, observed: Observed) -> Deviation:
    """Return the deviation of a step that is not attempted because a precondition does not hold."""
    finding = classify_refusal(action, observed)
    text = Explanation(action, ()).sentence(finding)
    return Deviation(finding.kind, Side.PRE, finding.literals, step, action, text, finding.objects)


def goal_unmet(step: int, unmet: Iterable[Expression], wording: Wording | None = None) -> Deviation:
    """Return the deviation of a completed plan that did not reach its goal."""
    literals = tuple(unmet)
    finding = RawDeviation(DeviationKind.GOAL_UNMET, literals, subjects(literals))
    text = Explanation(None, (), wording).sentence(finding)
    return Deviation(finding.kind, Side.POST, literals, step, None, text, finding.objects)


def predicted_failure(
    step: int, report: ValidationReport, wording: Wording | None = None
) -> Deviation:
    """Return the deviation of a plan that a seemingly harmless difference has invalidated."""
    broken = report.failure
    literals = (
        ()
        if broken is None
        else tuple(u.formula if u.wanted else Not(u.formula) for u in broken.literals)
    )
    if broken is None or broken.action is None:
        return goal_unmet(step, literals, wording)
    kind, names = DeviationKind.MISSING_PRECONDITION, subjects(literals) or broken.action.args
    finding = RawDeviation(kind, literals, names)
    text = Explanation(broken.action, (), wording).sentence(finding)
    return Deviation(kind, Side.PRE, literals, step, broken.action, text, names)


@dataclass
class _Diagnosis:
    """Explain the differences of one step, one kind of deviation after another.

    Args:
        left: The unexplained differences; each explanation removes the differences it covers.
    """

    step: int
    left: UnexplainedDifferences
    deviations: list[Deviation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.action = self.left.action
        self.expected, self.observed = self.left.expected, self.left.observed

    def dropped(self) -> None:
        """Explain objects that should still be in the hand but are not.

        This comes first because a lost object explains the most: where it lies now, the pieces it
        broke into, and why the action was refused.
        """
        for atom in sorted(self.left.missing, key=str):
            if atom.predicate != "holding" or atom not in self.expected.before:
                continue
            if self._consumed(atom):
                continue  # the action itself empties the hand
            name, now = atom.args[0], self._place_of(atom.args[0])
            instead = [a.args[0] for a in self.left.unexpected if a.predicate == "holding"]
            kind = DeviationKind.WRONG_OBJECT if instead else DeviationKind.DROPPED
            side = Side.PRE if atom in self.observed.unmet else Side.POST
            self._add(RawDeviation(kind, (atom,), (name, *instead, *now)), side)
            pieces = {a.args[0] for a in self.left.unexpected if a.predicate == "present"}
            self.left.forget({name, *pieces})

    def refused(self) -> None:
        """Explain a refusal, unless a change of the room does.

        If a difference violates a precondition, another agent caused it: `remaining_differences`
        reports it, and it explains the refusal.
        """
        unmet = set(self.observed.unmet)
        explained = {literal for d in self.deviations for literal in d.literals}
        partly_executed = self._partly_executed()
        if unmet & (explained | self.left.literals) and not partly_executed:
            return
        observed = replace(self.observed, unmet=()) if partly_executed else self.observed
        self._add(classify_refusal(self.action, observed), Side.PRE)
        if partly_executed:  # its partial effects are not deviations of their own
            self.left.forget(self.left.touched())

    def missing_effects(self) -> None:
        """Explain effects that are not visible although the action was reported as done."""
        effects, differences = self.left.effects(), self.left.literals
        wrong = [e for e in effects if e in differences]
        if not wrong:
            return
        touched = self.left.touched()
        finding = self._wrong_object(wrong) or self._misplaced(wrong)
        if finding is None:
            drifting = self.observed.sorts.drifting
            main = [
                e
                for e in effects
                if self._seen(atom_of(e))
                and (atom_of(e).predicate != "near" or len(effects) == 1)
                and not (
                    isinstance(e, Not) and atom_of(e).predicate in drifting
                )  # drifts back in its own time
            ]
            nothing = all(e in wrong for e in main) and not self._has_changed(touched)
            kind = DeviationKind.NO_EFFECT if nothing else DeviationKind.WRONG_EFFECT
            finding = RawDeviation(kind, tuple(wrong), subjects(wrong) or self.action.args)
        self._add(finding, Side.POST)
        hand = any(atom_of(e).predicate == "holding" for e in wrong)
        self.left.forget(touched | set(finding.objects), hand=hand, only=self.expected.effects)
        if finding.kind is DeviationKind.DROPPED:  # also covers the pieces it broke into
            self.left.forget(finding.objects)
        if finding.kind is DeviationKind.WRONG_OBJECT:
            # The action's effects on the other object, whichever they are, have the same cause.
            self.left.forget(None, only=self.expected.effects)

    def remaining_differences(self) -> None:
        """Explain the remaining differences, grouped by likely common cause."""
        for literals in self.left.groups():
            names = subjects(literals) or ("hand",)
            last = self.observed.last_seen.get(names[0])
            needed = any(e in self.observed.unmet for e in literals)
            message = (self.observed.error,) if needed and self.observed.error else ()
            kind = self._kind_of_difference(literals, names[0], last)
            self._add(
                RawDeviation(kind, literals, names, message, last),
                Side.PRE if needed else Side.POST,
            )

    def _kind_of_difference(
        self, literals: Iterable[Expression], name: str, last: int | None
    ) -> DeviationKind:
        # An older sighting needs no other agent: the belief may have been wrong all along.
        seen = self.observed.seen
        if seen is not None and last is not None and last < self.step - 1:
            return DeviationKind.MISPERCEIVED if name in seen else DeviationKind.MISSING_OBJECT
        touched = self.left.touched()
        own = self.observed.success and all(
            atom_of(e).predicate in self.expected.effects and touched & set(atom_of(e).args)
            for e in literals
        )
        return DeviationKind.WRONG_EFFECT if own else DeviationKind.CHANGED_BY_OTHERS

    def _consumed(self, atom: Atom) -> bool:
        """Return whether the action itself has consumed the held object, like a cracked egg."""
        gone = Atom("present", atom.args)
        return (
            atom not in self.expected.after
            and gone in self.expected.before - self.expected.after
            and self.observed.value(gone) is Truth.FALSE
        )

    def _partly_executed(self) -> bool:
        return any(self._consumed(a) for a in self.left.missing if a.predicate == "holding")

    def _wrong_object(self, wrong: Iterable[Expression]) -> RawDeviation | None:
        """Return the deviation if another object had the effect, such as the wrong burner."""
        # Objects that the plan does not name appear only in `lost` and `gained`.
        before = self.expected.before | self.observed.lost
        gained = self.left.unexpected | self.observed.gained
        lost = self.left.missing | self.observed.lost
        irrelevant = {"near", "present"} | self.observed.sorts.remembered
        # A changed state identifies the object better than a changed place, so try states first.
        for literal in sorted(wrong, key=lambda e: atom_of(e).predicate in PLACE_PREDICATES):
            meant = atom_of(literal)
            if not meant.args or meant.predicate in irrelevant:
                continue
            undone = isinstance(literal, Not)
            others = lost & before if undone else gained - before
            for other in sorted(others, key=str):
                same = other.predicate == meant.predicate and other.args[1:] == meant.args[1:]
                if same and other.args[:1] != meant.args[:1]:
                    should: Expression = other if undone else Not(other)
                    objects = (meant.args[0], other.args[0])
                    return RawDeviation(DeviationKind.WRONG_OBJECT, (literal, should), objects)
        return None

    def _misplaced(self, wrong: Iterable[Expression]) -> RawDeviation | None:
        """Return the deviation if a moved object is at neither its old nor its intended place."""
        for literal in wrong:
            if not isinstance(literal, Atom) or literal.predicate not in PLACE_PREDICATES | {
                "holding"
            }:
                continue
            name, now = literal.args[0], self._place_of(literal.args[0])
            pieces = {a.args[0] for a in self.left.unexpected if a.predicate == "present"}
            if pieces and self._broken(name):
                lies = self._place_of(min(pieces))
                objects = (name, *lies, *sorted(pieces)) if lies else (name,)
                return RawDeviation(DeviationKind.DROPPED, (literal,), objects)
            before = {
                a.args[1]
                for a in self.expected.before | self.observed.lost
                if a.predicate in PLACE_PREDICATES and a.args[0] == name
            }
            heard = self._heard(name, SoundKind.DROPPED)
            was = bool(before) or Atom("holding", (name,)) in self.expected.before
            elsewhere = bool(now) and was and not before.issuperset(now)
            if self.observed.scene.held == name or not (heard or elsewhere):
                continue
            there = self.observed.scene.objects.get(now[0]) if now else None
            on_floor = there is None or there.object_type == FLOOR
            if literal.predicate == "holding" or on_floor:
                return RawDeviation(DeviationKind.DROPPED, (literal,), (name, *now))
            return RawDeviation(
                DeviationKind.WRONG_OBJECT, (literal,), (name, *literal.args[1:], *now)
            )
        return None

    def _broken(self, name: str) -> bool:
        present = Atom("present", (name,))
        was = self.expected.before & self.expected.after
        return present in was and self.observed.value(present) is Truth.FALSE

    def _heard(self, name: str, noise: SoundKind) -> bool:
        o = self.observed.scene.objects.get(name)
        return o is not None and any(
            s.noise is noise and s.object_type == o.object_type for s in self.observed.sounds
        )

    def _place_of(self, name: str) -> tuple[str, ...]:
        o = self.observed.scene.objects.get(name)
        return o.parents[:1] if o is not None else ()

    def _has_changed(self, names: Collection[str]) -> bool:
        """Return whether a predicate that the action can change has changed for some objects.

        Temperature drifts by itself and `near` follows from the robot's position, so neither shows
        that the action had an effect.
        """
        return any(
            not set(a.args).isdisjoint(names)
            and self._seen(a)
            and a.predicate in self.expected.effects - self.observed.sorts.drifting - {"near"}
            for a in self.expected.before ^ self.observed.atoms
        )

    def _seen(self, atom: Atom) -> bool:
        return self.observed.value(atom) is not Truth.NOT_SEEN

    def _add(self, finding: RawDeviation, side: Side) -> None:
        explanation = Explanation(self.action, self.observed.sounds)
        evidence = (*finding.evidence, *explanation.heard(finding))
        self.deviations.append(
            Deviation(
                kind=finding.kind,
                side=side,
                literals=finding.literals,
                step=self.step,
                action=self.action,
                explanation=explanation.sentence(finding),
                objects=finding.objects,
                evidence=evidence,
            )
        )
