"""Closed classes of English around a request: frames that ask, denials, reports, conditions, times.

The open slots of a frame take any word: `hvr.language.surroundings` checks what these words say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

# Closed classes -----------------------------------------------------------------------------------

ANY = r"(?:[\w'-]+ )"
"""A word of the open class."""

CAN = "(?:can|could|would|will|may|might|can't|couldn't|won't|wouldn't)"
YOU = "(?:you|someone|somebody|anyone|anybody|(?:the|that|this|your) robot)"
LIGHT = (
    "(?:be|like|love|care|happen|try|manage|remember|agree|want|wish|mind|get|go|come|help|do|"
    "take|find|make|have|see|think|consider|spare|please)"
)
"""Verbs that add nothing to the verb they govern: 'care to', 'take a moment to'."""
SUPPOSE = (
    "(?:think|guess|suppose|believe|say|reckon|suggest|propose|recommend|hope|wish|feel|figure|"
    "imagine|expect|demand|insist|ask|beg|request|require|prefer|want|need|like|love|wonder|trust)"
)
"""Verbs of wishing and supposing."""
ADVERBS = r"(?:(?:\w+ly|just|maybe|perhaps|now|also|then|ever|so|too|at least|still|well|even) )*"
MEANT = (
    r"(?:(?:please|i|we) )?(?:could|would|can|will|should|must|might|may|shall|might as well|"
    r"may as well|(?:had )?better|have to|need to|ought to|are to|are going to)"
)

ASKING = (
    # could you kindly …, would you be so good as to …, do you think you could …
    rf"{CAN} {YOU} {ADVERBS}(?:{LIGHT} {ANY}{{0,6}})?",
    rf"(?:do|don't) you (?:mind|{ANY}{{1,2}}you (?:could|can|might)|fancy|feel like) {ANY}{{0,2}}",
    r"are you (?:able|up|free|willing|ready|game|all right) (?:to|for) ",
    # might i trouble you to …, can we get you to …
    rf"(?:can|could|may|might|would|should) (?:i|we) {ANY}{{1,6}}"
    rf"(?:you {ANY}{{0,2}}to|that (?:you|you'll)) ",
    # i need you to …, i'd like for you to …, i'm begging you to …
    rf"(?:i|we|i'd|i'm|i'll|we'd|we're|we'll) {ANY}{{0,4}}you {ANY}{{0,2}}to ",
    rf"(?:i|we|i'd|i'm|we'd|we're) {ANY}{{0,3}}(?:rather|prefer|wish|want|need|to see) you ",
    r"(?:(?:going to|will) )?(?:need|want|like) you to |(?:would you )?mind ",
    rf"(?:i|we|i'd|we'd) {ADVERBS}(?:(?:would|should) )?{SUPPOSE} (?:that )?you ",
    rf"(?:i|we|i'd|we'd|i'm|we're) {ADVERBS}{SUPPOSE} (?:that )?(?:you|we) {MEANT} {ADVERBS}",
    # i was wondering if you could …, i wonder whether you'd mind …
    rf"(?:(?:i|we|i'm|we're) )?{ANY}?(?:wondering|wonder|hoping|thinking) (?:if |whether |that )?"
    rf"(?:you|you'd|you'll) {ANY}{{0,6}}",
    # what i'd like is for you to …, your job today is to …
    rf"(?:what|all) (?:i|we|i'd|we'd|you) {ANY}{{0,6}}is (?:for you )?(?:to )?",
    rf"your {ANY}{{1,4}}(?:is|are) (?:now )?to ",
    # it is about time you …
    rf"(?:it's|it is|it must be|isn't it) {ANY}{{0,2}}(?:time|turn) "
    r"(?:to |for you to |that you |you |we )?",
    # you might as well …, you'd better …
    rf"(?:you|you'd|you'll|you're|we|we'd|we'll|we've|somebody|someone) {ADVERBS}{MEANT} {ADVERBS}",
    rf"(?:you|you'd|we'd) (?:better|best) {ADVERBS}",
    r"(?:you're|you are|we're|we are) (?:welcome|free|going|supposed|allowed|invited|meant|here) "
    r"to (?:have to )?|you (?:wouldn't|couldn't|don't) happen to (?:be able to )?",
    rf"(?:let's|let us|shall we|let me see you|let me have you|i want to see you) {ADVERBS}",
    # how about you …, why don't you …
    r"(?:how|what) about (?:you |we )?|why not |why don't (?:you|we) |why (?:won't|wouldn't) you ",
    r"(?:how|what) (?:do|would) you (?:say|feel|think) (?:you |we |to |about )|"
    r"any (?:chance|way) (?:of |(?:that )?you(?:'d)? |you could )",
    rf"is there {ANY}{{0,2}}(?:chance|way) (?:of |(?:that )?you (?:could |can |would )?)",
    # be sure to …, feel free to …, go ahead and …, do me a favour and …
    rf"(?:{LIGHT} {ANY}{{0,5}}to|(?:be|go|come|hurry|try|do (?:me|us)) {ANY}{{0,5}}and) ",
    r"(?:feel|hurry|start|begin|crack|set) (?:\w+ ){0,2}(?:to|by|with|and) |start |begin ",
    r"(?:don't|do not|never) (?:forget|hesitate|be shy|be afraid) (?:to |and )?",
    r"see if you (?:can|could) (?:manage to )?|mind you (?:do )?|see that you |see about ",
)  # fmt: skip
"""Skeletons of frames that ask the reader to do what follows."""

FINE = frozenset(
    "ok okay fine right alright possible convenient trouble bother problem hassle imposition "
    "inconvenience ask asking hardship pain burden feasible chance way kind same".split()
)
"""Words for whether a request is acceptable."""
WELCOME = frozenset(
    "grateful obliged thankful glad happy happier pleased appreciate appreciated great nice nicer "
    "lovely helpful help helps kind wonderful good better best perfect like love sweet awesome "
    "amazing ideal brilliant delighted super fantastic favour favor cool world delight thrilled "
    "relief neat excellent terrific handy useful joy pleasure honour honor smart wise dandy "
    "fabulous marvellous superb".split()
)
"""Words for the value of what is asked."""

VALUED = (
    # i'd be grateful if you …, it would mean the world to me if you …
    rf"(?:i|we|it|that|this|i'd|we'd|it'd|that'd|it's|i'll|we'll|it'll|you|you'd) {ANY}{{0,8}}"
    rf"if {ANY}{{1,4}}",
    # would it be too much trouble to …, it would be best to …
    rf"(?:would|will|is|could|might|isn't|wouldn't) (?:it|that|this|there) {ANY}{{0,6}}"
    rf"(?:to |(?:for|if|of) you {ANY}{{0,2}})",
    rf"(?:(?:i|we) {SUPPOSE} )?(?:it|it's|it'd|that's|that) {ANY}{{0,6}}(?:to|for you to) ",
)
"""Skeletons of frames that ask if they say that the wish is welcome or acceptable."""

NEGATIONS = frozenset(
    "not never no none nobody nothing nowhere neither nor without hardly barely rarely seldom "
    "scarcely cannot".split()
)
AGAINST = frozenset(
    "avoid refrain stop stopped stopping quit refuse refused forbid forbidden prohibit hate hated "
    "pretend pretending instead rather_than forget forgot fail failed prevent resist decline "
    "postpone delay skip cease doubt deny fear regret dread dangerous stupid wrong silly mad crazy "
    "rude illegal useless pointless unwise foolish bad terrible awful wasteful risky unsafe "
    "shame afraid against dare last least worst finished done completed".split()
)
"""Words that make a frame ask for the opposite, or for nothing."""
SAYING = frozenset(
    "said say says saying told tell tells telling asked asks wrote writes shouted yelled heard "
    "hears hear claims claimed suggested insists insisted wanted wants ordered whispered "
    "according".split()
)
"""Verbs of reports."""
RETRACTING = frozenset(
    "joke joking kidding kid mind changed cancel scrap scratch thought undo disregard withdraw "
    "not don't stop wait sarcasm sarcastic nevermind forget ignore lie lied lying mistake".split()
)
"""Words after a wish that may cancel it."""
TIMES = frozenset(
    "today tomorrow tonight yesterday later soon yet morning afternoon evening noon midnight week "
    "month year monday tuesday wednesday thursday friday saturday sunday pm am o'clock weekend "
    "daily hourly weekly nightly ago".split()
)
DESIRES = frozenset(
    "would should could must need needs want wants like love prefer wish hope better please "
    "supposed ought i'd we'd he'd she'd they'd".split()
)

ADDRESS = frozenset(
    "sir madam ma'am miss mister lady man woman boy girl guy guys folks team love lovey sweetie "
    "sweetheart darling dear honey hun babe pet duck friend mate buddy bud pal chap fellow champ "
    "bro dude boss chief captain chef doc doctor nurse mom mum mommy mummy mother dad daddy father "
    "grandma grandpa granny granddad son daughter sister brother wife husband aunt uncle kid kids "
    "child children baby toddler patient patients guest guests visitor visitors customer customers "
    "neighbour neighbor resident tenant client colleague roommate flatmate everyone robot bot "
    "assistant person people".split()
)
"""Nouns by which people are addressed or called: 'thanks, young man', 'my son wants …'."""
TITLES = frozenset({"mr", "mrs", "ms", "dr", "miss", "grandma", "aunt", "uncle"})

PEOPLE = frozenset(
    "i i'm i've i'll i'd we we're we've we'll we'd he he's he'd she she's she'd they they're "
    "they've they'd everyone everybody someone somebody nobody noone who".split()
)
PERSONS = PEOPLE | frozenset(
    "it it's it'd it'll this that that's that'll there there's here here's you're you've".split()
)
OWNERS = frozenset(
    {"my", "our", "his", "her", "their", "its", "the", "a", "an", "this", "that", "your"}
)
AUXILIARIES = frozenset(
    "is are was were has have had does did do can could will would should may might must isn't "
    "aren't wasn't weren't hasn't haven't hadn't doesn't didn't don't can't couldn't won't".split()
)
PRAISING = frozenset("helps makes keeps ensures creates simplifies gives".split())
CLOSINGS = frozenset({"though", "anyway", "either", "anyhow", "tho"})
LINKS = frozenset(
    "while because since as before after so that like if when unless although though cause "
    "considering despite".split()
)
REASONS = frozenset("since because although though cause considering despite".split())
JOINTS = frozenset({"and", "but", "so"})
OPENINGS = frozenset({"and", "but", "so", "then", "or", "well", "oh", "also", "cause", "plus"})

IF = re.compile(
    r"(?:and |but |so |or )?(?:only )?(if|unless|when|whenever|once|after|until|till|provided|"
    r"assuming|suppose|supposing|in case|as soon as|as long as|so long as|should you)\b"
)
CONVENIENT = (
    # if you've got a second, when you get round to it, if you'd be so kind
    r"(?:if|when|whenever|once|as soon as|in case|as long as|assuming) (?:ever )?"
    rf"(?:you|you've|you'd|you're|you'll) {ANY}{{0,2}}"
    r"(?:can|could|may|might|would|will|please|like|want|wish|mind|care|"
    r"get (?:to|around|round) \w+|(?:have|get|got|find|had|spare)(?: \w+){0,3} "
    r"(?:seconds?|secs?|moments?|minutes?|mins?|hours?|time|while|chance|opportunity|bit|hands?|"
    r"energy)|(?:be )?so (?:kind|good)|"
    r"not (?:too )?busy|busy|free|able|available|up to it|up for it|willing|ready|done|finished|"
    rf"through|wondering|at it|there|near|there already) {ANY}{{0,6}}",
    r"(?:if|in case) (?:i|we) (?:may|might|could|can) (?:ask |be so bold )?",
    rf"(?:when|whenever|once|as soon as) (?:you're|you are|you've|you have|you get|you feel|"
    rf"finished|done|ready) {ANY}{{0,4}}",
    rf"(?:if|as long as) (?:it|it's|that|that's|this)(?: is| isn't| wouldn't| won't)? "
    rf"{ANY}{{0,7}}",
    rf"(?:if|as) (?:i|i've|we|we've) (?:(?:have|had) )?(?:told|said|mentioned|asked) {ANY}{{0,9}}",
    r"(?:if|when|whenever) (?:at all )?(?:possible|convenient|poss|need be|necessary) ",
)
"""Conditions on the convenience of the person who is asked."""

TAILS = (
    rf"{CAN} (?:you|ya) {ANY}{{0,2}}",
    rf"(?:because|since|as|cause|though|although|even though|now that|given that|considering|"
    rf"so|so that|in case|before|while|for|like|in order to) {ANY}{{1,12}}",
    rf"(?:or|or else|otherwise) (?:i'll|i|we'll|we|it'll|they'll|my|it) {ANY}{{1,8}}",
    rf"(?:to|in order to) \w+ (?:my|me|our|us|his|her|their) {ANY}{{0,5}}",
    rf"(?:at your|in time for|where (?:i|we) can|(?:just )?the way|as an?) {ANY}{{1,5}}",
)
"""What may follow a wish without a pause."""


@cache
def compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"({ANY}{{0,7}}?)(?:{pattern})") for pattern in patterns)


LIGHT_WORDS = frozenset("be do go come get have take make hurry try let please see".split())
IDLE = frozenset("be go come hurry try let please see".split())
ASKS = frozenset(
    "were was are is do did have has would could can will who what where when why how which "
    "isn't aren't wasn't weren't".split()
)
YOU_IN = re.compile(r"\b(?:you|you'd|you're|you'll)\b")


def denies(words: Sequence[str]) -> bool:
    """Return whether the words before a request deny it ('do not') or only ask 'how to' do it."""
    text = " ".join(words)
    polite = re.match(r"(?:please )?(?:why )?(?:can't|couldn't|won't|wouldn't|don't) you ", text)
    polite = polite or re.match(r"(?:don't|do not|never) (?:forget|hesitate|be) ", text)
    polite = polite or re.match(r"(?:wouldn't|isn't|won't) (?:it|that) ", text)
    polite = polite or re.match(r"you (?:wouldn't|couldn't|don't) happen", text)
    if re.search(r"\b(?:did|have|had|has) (?:you|anyone|someone|somebody) ", text + " "):
        return True
    if re.search(
        r"\b(?:how|where|when|who|why) (?:to|i|we|he|she|they|you|people) |"
        r"\bwhat (?:to|would|if|happens) ",
        text,
    ):
        return True
    rest = words[3:] if polite else words
    fine = re.search(
        r"\b(?:no|not|isn't|wouldn't be|won't be) (?:\w+ ){0,3}(?:trouble|bother)", text
    )
    return not fine and any(w in NEGATIONS or w.endswith("n't") or w in AGAINST for w in rest)


def is_convenient(text: str) -> bool:
    """Return whether a condition is mere politeness to the person asked: 'if you have a second'."""
    text = re.sub(r"^(?:and|but|so|or|then) ", "", text)
    match = any(re.fullmatch(pattern, text) for pattern in CONVENIENT)
    if match and re.match(r"(?:if|as long as) (?:it|that|this)", text):
        return bool(FINE & set(text.split()))
    return match
