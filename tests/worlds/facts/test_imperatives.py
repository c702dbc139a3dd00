"""The imperatives of a world's actions, and 'bring … to …', are requests."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import pytest

from hvr.errors import LanguageError
from hvr.execution.facts.grammar import RequestedProblem
from hvr.execution.facts.planning import StatePlanner
from hvr.execution.facts.sentences import problem_for
from hvr.knowledge.world_file import find_world
from hvr.pddl import Task, parse_domain, parse_problem
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.facts.lexicon import lexicon_for


@cache
def folder(world: str) -> WorldFolder:
    return WorldFolder(find_world(world))


def asked(world: str, text: str) -> RequestedProblem:
    place = folder(world)
    problem, _ = place.problem(None)
    return problem_for(text, place.domain, problem, place.words, place.ontology)


FORMS = ("put {0} on {1}", "put the {0} block on top of the {1} block", "stack {0} on {1}, please",
         "could you move {0} onto {1}", "i want {0} on {1}", "{0} should be on {1}")  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_blocks_are_put_on_each_other(form: str) -> None:
    for one, other in permutations(("red", "green", "blue", "yellow", "white"), 2):
        assert asked("blocksworld", form.format(one, other)).said == f"{one} is on {other}"


@pytest.mark.parametrize("form", ["bring {0} to the {1}", "deliver {0} to {1}, please",
                                  "get {0} over to the {1}"])  # fmt: skip
def test_parcels_are_brought_to_places(form: str) -> None:
    for parcel in ("parcel1", "parcel 2"):
        for place in ("harbour", "depot", "airport1"):
            said = f"{parcel.replace(' ', '')} is at {place}"
            assert asked("logistics", form.format(parcel, place)).said == said


@pytest.mark.parametrize(
    ("world", "text", "said"),
    [
        ("blocksworld", "pick red up", "red is in the hand"),
        ("blocksworld", "pick up white", "white is in the hand"),
        ("blocksworld", "take white off yellow", "white is not on yellow"),
        ("blocksworld", "put white and green on the table",
         "white is on the table and green is on the table"),
        ("blocksworld", "pick white up and put it on green",
         "white is in the hand; then white is on green"),
        ("blocksworld", "put red on green, then blue on red",
         "red is on green; then red is on green and blue is on red"),
        ("logistics", "load parcel2 into truck1 at the depot", "parcel2 is in truck1"),
        ("logistics", "drive truck1 to the harbour", "truck1 is at harbour"),
        ("logistics", "drive truck1 to the harbour, then to the depot",
         "truck1 is at harbour; then truck1 is at depot"),
        ("logistics", "fly plane1 to airport2", "plane1 is at airport2"),
        ("logistics", "deliver both parcels to the depot", "every parcel is at depot"),
        ("logistics", "bring parcel1 over to the harbour", "parcel1 is at harbour"),
        ("logistics", "fly to airport2", "plane1 is at airport2"),
        ("logistics", "bring every parcel except parcel1 to the harbour", "parcel2 is at harbour"),
        ("logistics", "move the truck that is at the depot to the harbour", "truck1 is at harbour"),
        ("logistics", "bring the parcel from the market to the harbour", "parcel1 is at harbour"),
        ("logistics", "bring parcel1 from the depot to the harbour", None),
        ("logistics", "bring parcel1 to the depot or the harbour",
         "either parcel1 is at depot or parcel1 is at harbour"),
        ("logistics", "take parcel2 to airport2 with plane1",
         "parcel2 is at airport2 and unload parcel2, plane1, airport2 is done"),
        ("logistics", "return truck1 to the depot after delivering parcel2 to the harbour",
         "parcel2 is at harbour; then parcel2 is at harbour and truck1 is at depot"),
        ("logistics", "both trucks should end up at an airport", "every truck is at some airport"),
        ("logistics", "swap parcel1 and parcel2", "parcel2 is at market and parcel1 is at depot"),
        ("logistics", "bring parcel1 to the harbour twice", None),
        ("blocksworld", "put nothing on blue", "no block is on blue"),
        ("blocksworld", "put at least one block on red", "some block is on red"),
        ("blocksworld", "move the block on red to the table", "green is on the table"),
        ("blocksworld", "put the block on the table", None),
        ("blocksworld", "put all blocks that are clear on the table",
         "green is on the table and white is on the table"),
        ("blocksworld", "put white back on yellow", "white is on yellow"),
        ("blocksworld", "put either red or yellow on white",
         "either red is on white or yellow is on white"),
        ("blocksworld", "clear the blue block", "blue is clear"),
        ("blocksworld", "put green under red", "red is on green"),
        ("blocksworld", "take white off red", None),
        ("blocksworld", "build a tower with red at the bottom and blue on top", "blue is on red"),
        ("blocksworld", "stack white on blue on red", "white is on blue and blue is on red"),
        ("logistics", "drive truck1 to the harbour and back",
         "truck1 is at harbour; then truck1 is at depot"),
        ("logistics", "bring every parcel to the harbour except parcel1", "parcel2 is at harbour"),
    ],
)  # fmt: skip
def test_orders_ask_for_effects(world: str, text: str, said: str | None) -> None:
    if said is None:
        with pytest.raises(LanguageError):
            asked(world, text)
    else:
        assert asked(world, text).said == said


@pytest.mark.parametrize(
    ("text", "constraint"),
    [
        ("bring parcel2 to the harbour without plane1", "(always (at plane1 airport1))"),
        ("don't use truck2, bring parcel2 to the harbour", "(always (at truck2 airport2))"),
        ("bring parcel2 to the harbour and don't drive truck2 to the market",
         "(always (not (at truck2 market)))"),
        ("keep truck1 at the depot and bring parcel1 to airport2", "(always (at truck1 depot))"),
    ],
)  # fmt: skip
def test_what_is_forbidden_or_kept_is_a_constraint(text: str, constraint: str) -> None:
    assert constraint in str(asked("logistics", text).problem.constraints)


FARM = """(define (domain farm) (:requirements :typing :fluents)
  (:types place animal gate tool - object barn meadow - place cow sheep - animal)
  (:predicates (farmer-at ?p - place) (joins ?g - gate ?a ?b - place) (open ?g - gate)
    (kept ?a - animal ?p - place) (milked ?a - animal) (has ?t - tool)
    (lies-in ?t - tool ?p - place))
  (:functions (food ?a - animal) (hay))
  (:action walk :parameters (?from ?to - place ?g - gate)
    :precondition (and (farmer-at ?from) (joins ?g ?from ?to) (open ?g))
    :effect (and (not (farmer-at ?from)) (farmer-at ?to)))
  (:action open-gate :parameters (?g - gate ?p - place)
    :precondition (farmer-at ?p) :effect (open ?g))
  (:action lead :parameters (?a - animal ?from ?to - place ?g - gate)
    :precondition (and (farmer-at ?from) (kept ?a ?from) (joins ?g ?from ?to) (open ?g))
    :effect (and (not (farmer-at ?from)) (farmer-at ?to) (not (kept ?a ?from)) (kept ?a ?to)))
  (:action milk :parameters (?a - animal ?p - place ?t - tool)
    :precondition (and (farmer-at ?p) (kept ?a ?p) (has ?t)) :effect (milked ?a))
  (:action feed :parameters (?a - animal) :effect (and (increase (food ?a) 1) (decrease (hay) 1)))
  (:action fetch :parameters (?t - tool ?p - place)
    :precondition (lies-in ?t ?p) :effect (and (has ?t) (not (lies-in ?t ?p)))))"""
MORNING = """(define (problem morning) (:domain farm)
  (:objects redbarn - barn north south - meadow greengate oldgate - gate rosie bella - cow
    dolly shaun - sheep pail - tool)
  (:init (farmer-at redbarn) (joins greengate redbarn north) (kept bella north) (kept rosie redbarn)
    (kept dolly south) (kept shaun south) (lies-in pail redbarn) (= (food bella) 0) (= (hay) 5))
  (:goal (and)))"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # Each argument is in the goal, or limits what the order is about.
        ("milk every animal in north", "bella is milked"),
        ("milk bella with the pail", "bella is milked and milk bella, any, pail is done"),
        ("walk to north", "the farmer is at north"),
        ("go to north, then back to the red barn",
         "the farmer is at north; then the farmer is at redbarn"),
        ("take dolly to the red barn", "dolly is kept redbarn"),
        ("get bella out of north", "bella is not kept north"),
        ("get bella out of south", None),
        ("bring the sheep into the red barn", "dolly is kept redbarn and shaun is kept redbarn"),
        ("bring bella anywhere but north", "either bella is kept redbarn or bella is kept south"),
        ("grab the pail", "pail has"),
        ("open all the gates", "every gate is open"),
        ("open the green gate, milk bella and lead her there", None),
        ("milk bella, then lead her to the red barn",
         "bella is milked; then bella is milked and bella is kept redbarn"),
        ("lead bella to the barn, not the south meadow",
         "bella is kept redbarn and bella is not kept south"),
        ("milk everything except the sheep", "every cow is milked"),
        ("feed bella by 3", "the food of bella is at least 3"),
        ("feed rosie", None),  # how much food it has is not known
        ("milk bella without opening the old gate",
         "bella is milked; at all times oldgate is not open"),
        ("if bella is in north milk her, otherwise feed her", "bella is milked"),
        ("feed bella unless the green gate is open", "the food of bella is at least 1"),
        ("milk bella if the green gate is open", "nothing is left to do"),
        ("milk the goat", None),
        ("lead bella", None),
        ("make a tower of red on green on blue", None),
    ],
)  # fmt: skip
def test_orders_are_read_by_the_types_of_things(text: str, said: str | None) -> None:
    domain, problem = parse_domain(FARM), parse_problem(MORNING, parse_domain(FARM))
    if said is None:
        with pytest.raises(LanguageError):
            problem_for(text, domain, problem, lexicon_for(domain))
    else:
        assert problem_for(text, domain, problem, lexicon_for(domain)).said == said


GREENHOUSE = """(define (domain greenhouse) (:requirements :typing :fluents)
  (:types plant lamp can bed - object)
  (:predicates (lit ?lamp - lamp) (held ?can - can) (grows-in ?plant - plant ?bed - bed)
    (pruned ?plant - plant))
  (:functions (moisture ?plant - plant) (level ?can - can))
  (:action water :parameters (?plant - plant ?can - can)
    :precondition (and (held ?can) (>= (level ?can) 1))
    :effect (and (increase (moisture ?plant) 1) (decrease (level ?can) 1)))
  (:action prune :parameters (?plant - plant ?bed - bed)
    :precondition (grows-in ?plant ?bed) :effect (pruned ?plant))
  (:action grab :parameters (?can - can) :effect (held ?can))
  (:action refill :parameters (?can - can) :effect (assign (level ?can) 5))
  (:action switch-on :parameters (?lamp - lamp) :effect (lit ?lamp))
  (:action switch-off :parameters (?lamp - lamp) :effect (not (lit ?lamp))))"""
DAY = """(define (problem day) (:domain greenhouse)
  (:objects fern rose - plant lamp1 lamp2 lamp3 - lamp redcan - can
    north south - bed)
  (:init (grows-in fern north) (grows-in rose south)
    (lit lamp2) (lit lamp3) (= (moisture fern) 1) (= (moisture rose) 0) (= (level redcan) 0))
  (:goal (and)))"""


BREWERY = """(define (domain brewery) (:requirements :typing :fluents)
  (:types vat brew robot)
  (:predicates (mashed ?b - brew ?t - vat) (bottled ?b - brew) (holding ?r - robot ?b - brew)
    (waiting ?b - brew))
  (:functions (water ?t - vat))
  (:action bottle :parameters (?r - robot ?b - brew ?t - vat)
    :precondition (mashed ?b ?t) :effect (and (bottled ?b) (not (mashed ?b ?t))))
  (:action fill :parameters (?t - vat) :effect (increase (water ?t) 4))
  (:action pick-up :parameters (?r - robot ?b - brew)
    :effect (and (holding ?r ?b) (not (waiting ?b)))))"""
EVENING = """(define (problem evening) (:domain brewery)
  (:objects tun - vat ale stout - brew rita otto - robot)
  (:init (mashed ale tun) (waiting stout) (= (water tun) 2)) (:goal (and)))"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bottle the ale", "ale is bottled"),
        (
            "if the stout is waiting let rita pick it up, then bottle it",
            "rita is holding stout; then rita is holding stout and stout is bottled",
        ),
        ("fill the tun with water", "the water of tun is at least 6"),
        ("pick up the stout with rita", "rita is holding stout"),
        ("otto should pick up the ale", "otto is holding ale"),
        ("nobody should be waiting", "waiting no brew"),
    ],
)
def test_orders_of_actions_with_agents_and_several_effects(text: str, said: str) -> None:
    domain, problem = parse_domain(BREWERY), parse_problem(EVENING, parse_domain(BREWERY))
    assert problem_for(text, domain, problem, lexicon_for(domain)).said == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("water the fern", "the moisture of fern is at least 2"),
        ("water the rose twice", "the moisture of rose is at least 2"),
        ("water every plant",
         "the moisture of fern is at least 2 and the moisture of rose is at least 1"),
        ("water the rose with the red can",
         "the moisture of rose is at least 1 and water rose, redcan is done"),
        ("prune all plants in north", "fern is pruned"),
        ("refill the red can", "the level of redcan is 5"),
        ("switch lamp1 on", "lamp1 is lit"),
        ("turn off all lamps", "no lamp is lit"),
        ("switch off a lamp", "either lamp2 is not lit or lamp3 is not lit"),
        ("turn off lamp2 and turn on lamp1", "lamp2 is not lit and lamp1 is lit"),
        ("switch off every lamp except lamp3", "lamp1 is not lit and lamp2 is not lit"),
    ],
)  # fmt: skip
def test_orders_in_a_world_with_derived_words(text: str, said: str) -> None:
    domain, problem = parse_domain(GREENHOUSE), parse_problem(DAY, parse_domain(GREENHOUSE))
    assert problem_for(text, domain, problem, lexicon_for(domain)).said == said


@pytest.mark.parametrize(
    ("world", "text", "why"),
    [
        ("blocksworld", "put violet on green", "understood: green; unknown word 'violet'"),
        ("blocksworld", "put red on red", "names 'red' twice"),
        ("blocksworld", "put red", "it can read for example 'put BLOCK down'"),
        ("logistics", "drive parcel1 to the depot", "hvr does not understand"),
        ("logistics", "fly truck1 to airport2", "hvr does not understand"),
        ("logistics", "load parcel9 into truck1", "unknown word 'parcel9'"),
        # A second goal is not ignored like a remark.
        ("blocksworld", "put red on blue, and violet blocks are clear", "'violet'"),
    ],
)
def test_refusals_are_short_and_name_the_words(world: str, text: str, why: str) -> None:
    with pytest.raises(LanguageError, match=why) as refused:
        asked(world, text)
    assert len(str(refused.value).split()) < 40


def test_a_domain_without_words_has_imperatives() -> None:
    domain = parse_domain(
        "(define (domain lamps) (:requirements :strips) (:predicates (lit ?l) (dark ?l))"
        " (:action light-up :parameters (?l) :precondition (dark ?l)"
        " :effect (and (lit ?l) (not (dark ?l)))))"
    )
    problem = parse_problem(
        "(define (problem p) (:domain lamps) (:objects red green) (:init (dark red))"
        " (:goal (lit green)))",
        domain,
    )
    words = lexicon_for(domain)
    assert problem_for("light up red, please", domain, problem, words).said == "red is lit"


CLINIC = """(define (domain clinic) (:requirements :typing :negative-preconditions)
  (:types nurse patient - person room)
  (:predicates (nurse-at ?n - nurse ?r - room) (patient-in ?p - patient ?r - room)
    (fed ?p - patient) (washed ?p - patient))
  (:action walk :parameters (?n - nurse ?from ?to - room) :precondition (nurse-at ?n ?from)
    :effect (and (nurse-at ?n ?to) (not (nurse-at ?n ?from))))
  (:action escort :parameters (?n - nurse ?p - patient ?from ?to - room)
    :precondition (and (nurse-at ?n ?from) (patient-in ?p ?from))
    :effect (and (nurse-at ?n ?to) (patient-in ?p ?to)
      (not (nurse-at ?n ?from)) (not (patient-in ?p ?from))))
  (:action feed :parameters (?n - nurse ?p - patient ?r - room)
    :precondition (and (nurse-at ?n ?r) (patient-in ?p ?r)) :effect (fed ?p))
  (:action wash :parameters (?n - nurse ?p - patient) :effect (washed ?p)))"""
ROUND = """(define (problem day) (:domain clinic)
  (:objects anna bob - nurse jones smith lee - patient lobby ward - room)
  (:init (nurse-at anna ward) (nurse-at bob lobby) (patient-in jones lobby)
    (patient-in smith lobby) (patient-in lee ward) (fed lee)) (:goal (and)))"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no one in the lobby", "no nurse is at lobby and no patient is in lobby"),
        ("bring Anna and Jones to the lobby", "anna is at lobby and jones is in lobby"),
        (
            "anna should bring jones to the ward",
            "jones is in ward and escort anna, jones, any, ward is done",
        ),
        ("lee must be fed by bob", "lee is fed and feed bob, lee, any is done"),
        ("feed the patients who are in the lobby", "jones is fed and smith is fed"),
        ("wash everyone who hasn't been fed", "jones is washed and smith is washed"),
        (
            "at most one patient may stay in the lobby",
            "at most 1 of jones, lee and smith is in lobby",
        ),
        ("feed and wash smith", "smith is fed and smith is washed"),
        ("all patients must be washed and fed", "every patient is washed and every patient is fed"),
        (
            "feed jones, then smith and wash both of them",
            "jones is fed; then jones is fed and smith is fed and smith is washed "
            "and jones is washed",
        ),
        (
            "leave lee where she is and empty the lobby",
            "no nurse is at lobby and no patient is in lobby; at all times lee is in ward",
        ),
        (
            "let bob escort smith to the ward",
            "smith is in ward and escort bob, smith, any, ward is done",
        ),
        ("keep lee out of the lobby and feed her", "lee is fed; at all times lee is not in lobby"),
        (
            "bob must not touch lee, feed her",
            "lee is fed; at all times escort bob, lee, any, any is not done; "
            "at all times feed bob, lee, any is not done; at all times wash bob, lee is not done",
        ),
        ("take jones to the ward in at most two steps", "jones is in ward; in at most 2 steps"),
        ("bring jones to the garden", None),
        ("bring the patient to the ward", None),
        ("everyone must be sedated", None),
        ("feed lee, , and except lee", None),
        (", , back", None),
    ],
)
def test_one_composition_of_noun_phrases_and_properties(text: str, said: str | None) -> None:
    domain, problem = parse_domain(CLINIC), parse_problem(ROUND, parse_domain(CLINIC))
    words = lexicon_for(domain)
    if said is None:
        with pytest.raises(LanguageError):
            problem_for(text, domain, problem, words)
        return
    read = problem_for(text, domain, problem, words)
    assert read.said == said
    again = problem_for(said, domain, problem, words)
    assert again.said == said


OFFICE = """(define (domain office) (:requirements :strips)
  (:predicates (robot ?r) (room ?x) (parcel ?p) (at ?r ?x) (in-room ?p ?x) (has ?r ?p))
  (:action move :parameters (?r ?a ?b)
    :precondition (and (robot ?r) (room ?a) (room ?b) (at ?r ?a))
    :effect (and (at ?r ?b) (not (at ?r ?a))))
  (:action grab :parameters (?r ?p ?x)
    :precondition (and (robot ?r) (parcel ?p) (at ?r ?x) (in-room ?p ?x))
    :effect (and (has ?r ?p) (not (in-room ?p ?x))))
  (:action release :parameters (?r ?p ?x)
    :precondition (and (robot ?r) (room ?x) (at ?r ?x) (has ?r ?p))
    :effect (and (in-room ?p ?x) (not (has ?r ?p)))))"""
DESK = """(define (problem p) (:domain office) (:objects robbie wally hall study letter box)
  (:init (robot robbie) (robot wally) (room hall) (room study) (parcel letter) (parcel box)
    (at robbie hall) (at wally study) (in-room letter hall) (in-room box study)) (:goal (and)))"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("take the letter to the study", "letter is in room study"),
        ("both robots must end up in the hall", "robbie is at hall and wally is at hall"),
        ("swap the letter and the box", "box is in room hall and letter is in room study"),
        (
            "wally should bring the box to the hall",
            "box is in room hall and release wally, box, hall is done",
        ),
    ],
)
def test_untyped_domains_have_the_types_of_their_unary_facts(text: str, said: str) -> None:
    domain = parse_domain(OFFICE)
    posed = problem_for(text, domain, parse_problem(DESK, domain), lexicon_for(domain))
    assert posed.said == said


@pytest.mark.slow
def test_a_plan_has_the_actions_and_the_number_of_steps_that_a_request_names() -> None:
    domain = parse_domain(CLINIC)
    problem, words = parse_problem(ROUND, domain), lexicon_for(domain)
    posed = problem_for("bob should feed lee", domain, problem, words)
    steps = StatePlanner(seconds=20).plan(Task(posed.domain, posed.problem)).plan.actions
    assert any(str(step).startswith("(feed bob lee") for step in steps)
    posed = problem_for("bring lee to the lobby in one step", domain, problem, words)
    steps = StatePlanner(seconds=20).plan(Task(posed.domain, posed.problem)).plan.actions
    assert len(steps) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("keep jones and smith out of the ward, feed lee",
         "lee is fed; at all times jones is not in ward; at all times smith is not in ward"),
        ("wash lee without anna",
         "lee is washed; at all times feed anna, any, any is not done; "
         "at all times wash anna, any is not done; at all times anna is at ward"),
        ("0 patients should be in the lobby",
         "jones is not in lobby and smith is not in lobby and lee is not in lobby"),
    ],
)  # fmt: skip
def test_prohibitions_cover_every_object_and_every_role(text: str, said: str) -> None:
    domain, problem = parse_domain(CLINIC), parse_problem(ROUND, parse_domain(CLINIC))
    assert problem_for(text, domain, problem, lexicon_for(domain)).said == said


@pytest.mark.parametrize(
    "text",
    [
        "do not bring jones and smith to the ward, feed lee",
        "feed lee without washing jones and smith",
        "wash all but one patient",
    ],
)
def test_half_of_a_prohibition_is_not_an_order(text: str) -> None:
    domain, problem = parse_domain(CLINIC), parse_problem(ROUND, parse_domain(CLINIC))
    with pytest.raises(LanguageError, match=r"repeat it for each|did you mean"):
        problem_for(text, domain, problem, lexicon_for(domain))
