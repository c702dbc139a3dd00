"""Polite, hesitant and roundabout forms of English, reworded plainly.

    i'd be grateful if the pan could be on the hob     the pan should be on the hob
    if it's no bother, close the fridge                close the fridge
    wash neither the fork nor the spoon                do not wash the fork or the spoon
    as soon as the egg is cooked, put it down          once the egg is cooked, put it down

The forms are general English: they name no objects, states or places of a world.
"""

from __future__ import annotations

import re
from functools import cache

# Courtesy -----------------------------------------------------------------------------------------

_SHORTEST = 3
"""Number of words in the shortest form; shorter requests need not compile the forms."""

_VALUE = (
    "grateful|obliged|thankful|glad|happy|pleased|appreciate|appreciated|great|nice|lovely|helpful|"
    "help|kind|wonderful|good|perfect|like|love|sweet|awesome|amazing|ideal|brilliant|delighted|"
    "super|fantastic|okay|ok|all right|alright|cool|favou?r|best"
)
_SUBJECT = r"(?:i|we|it|that|this)(?:'d| would|'ll| will|'s| is| might)?"
_MATRIX = (
    rf"(?:{_SUBJECT}|would (?:it|that)|you'd|you would)"
    rf"(?: (?!(?:not|never|no|hardly)\b)\w+){{0,3}}? (?:{_VALUE})"
    r"(?: (?:it|me|us|to|much|a|lot|very|with|you|of|thing|all|day)){0,3},?"
)
_YOU = r"you(?:'d|'ll| could| would| can| might| will| were to)?(?: please| kindly| just| maybe)*"
_COULD = r"(?:could|would|might|may|can|were|was|is|are|will|gets?|got)"
_END = r"(?=\s*(?:[,.;!?]|$))"

_FORMS = (
    (
        r"\b(please|thanks|thank you|me|now),? "
        rf"(?:darling|love|hun|honey|dear|pet|sweetie|mate|bro){_END}",
        r"\1",
    ),
    (rf"\bbefore (?:breakfast|lunch|dinner|supper|bed|bedtime|work|school){_END}", ""),
    (
        rf"\b{_MATRIX} if ((?:the|my|all|both|every|each|our)\b[^,.;!?]*?) "
        rf"{_COULD}(?: all| both)?(?: be)?\b",
        r"\1 should be",
    ),
    (
        r"\b(?:what|all)(?: that)? (?:i|we)(?:'d| would)? (?:really )?(?:like|want|need) is\b",
        "i need",
    ),
    # 'wash neither the fork nor the spoon'
    (
        r"\b(?!(?:if|unless|when|once|until|while|that|and|is|are|has|have)\b)"
        r"(\w+) neither ([^,.;!?]+?) nor\b",
        r"do not \1 \2 or",
    ),
    (
        r"\b(?:as soon as|the moment|(?:right|immediately) after) (?!you (?:can|could)\b|possible)",
        "once ",
    ),
    # 'do not wash the mug, just the cup'
    (
        r"\b(don't|do not) (\w+) ([^,.;!?]+), (?:just|only) "
        r"(?![^.;!?]*\b(?:is|are|be|needs?)\b)"
        rf"((?:the|my|an?)\b[^,.;!?]*){_END}",
        r"\1 \2 \3. \2 \4",
    ),
    # 'leave the pan alone', 'leave the rest as they are'
    (
        r"[,;]?(?: but| and)? (?:leave|keep) (?:the rest|the others?|everything else|all else|"
        r"all the others?|all the rest)(?: of (?:it|them))? "
        r"(?:alone|as (?:it is|they are)|be|untouched|where (?:it is|they are))\b",
        "",
    ),
    (
        r"\bleave ((?:the|my|all|both|this|that) [^,.;!?]*?) "
        r"(?:alone|as (?:it is|they are)|be|untouched)\b",
        r"do not touch \1",
    ),
    (r"\b(?:hands off|stay away from|steer clear of|keep away from)\b", "do not touch"),
    # ', keeping the fridge closed the whole time'
    (r",? keeping (?=the |my |all |every )", ", and keep "),
    (
        r"\b(keep|never|don't|do not)\b([^.;!?]*?),? "
        r"(?:(?:for )?the (?:whole|entire) (?:time|while)|all along|"
        r"all the (?:time|while)|at all times)\b",
        r"\1\2",
    ),
    (r"\b(after|once|before) you(?:'ve| have) (?=\w)", r"\1 you "),
    (r"\b((?:after|once) [^,.;!?]{1,40}?) (?:has|have) been\b", r"\1 is"),
    # 'take it off and put it in the sink'
    (
        r"\btake (it|them|that|those) (?:out|off|down|up)(?: of (?:it|there))?,? (?:and )?"
        r"(?:then )?(put|place|bring|set|leave|move) (?=it\b|them\b)",
        r"\2 ",
    ),
    (r"\b(can|could|would|will) (?:some|any)(?:one|body)\b", r"\1 you"),
    (r"\bas (\w+ly|thin|fine|quick|fast) as (?:you can|possible)\b", r"\1"),
    (r"\breal (?=good|quick|well|fast|clean|nice)", ""),
    (r"\bwhatever(?:'s| is)(?= (?:in|on|inside)\b)", "everything"),
    (r",? (?:when|once|after) you(?:'re| are) (?:done|finished|through)(?=\s*(?:[,.;!?]|$))", ""),
    (r"\bi could (?:murder|kill for|go for|do with|use)\b|\bi(?:'m| am) dying for\b", "i want"),
    (r"\bi(?:'ll| will) be (?:needing|wanting)\b", "i need"),
    (
        r"\bwould (?:look|be|go|fit|work|feel|sit) (?:much |a lot |far |even )?"
        r"(?:better|best|nicer|great|good|nice|lovely)(?= (?:in|on|at|inside|next)\b)",
        "should be",
    ),
    (
        r"\bi (?:don't|do not) (?:need|want|use) ((?:the|my|this|that) [\w ]+?) "
        r"(?:any ?more|any longer)\s*[,.;]",
        r"\1,",
    ),
    (r"\b((?:bring|carry|hand|pass|take)\b[^,.;!?]*?) over(?: here)?(?=\s*(?:[,.;!?]|$))", r"\1"),
    (r":\s*(?:both|all)(?: of them)?(?= (?:onto|on|in|into|to)\b)", ""),
    (r"\bnice and (?=\w)", ""),
    (r"(?<=\w )all (?=(?:need|should|must|have to|want)\b)", ""),
    (r"\bbefore anything else\b,?", "first"),
    (r"\b(?:them all|all of them|all of these|these|the following)\s*:\s*", ""),
    (r"\b2 (me|us)\b", r"to \1"),
    (r"\b4 (me|us|him|her)\b", r"for \1"),
    (r"(?<=\w) who (is|are|was)\b", r" that \1"),
    (r"\bset ((?:the|my|all|both)\b[^,.;!?]*?) to (on|off)\b", r"turn \1 \2"),
    # 'bring the water to the boil'
    (r"\bbring ([^,.;!?]+?) to (?:the|a) (?:rolling |gentle )?(?:boil|simmer)\b", r"boil \1"),
    # 'put it not in the sink but in a drawer'
    (
        r",? not (?:in|on|into|onto|to|at|inside|under) [^,.;!?]+?,? but "
        r"(?=(?:in|on|into|onto|to|at)\b)",
        " ",
    ),
    # 'put the pan, not the pot, on the stove'
    (
        r", not ((?:the|an?|my|your|that|this) [\w ]+?), "
        r"((?:in|on|into|onto|to|at|under|next to|from) [^,.;!?]+)",
        r" \2, not \1",
    ),
    (r"\bif (?:i'm|i am) not (?:mistaken|wrong)\b,? ", ""),
    (
        r"\b(?:has |have |is |are )?(?:asked|asks|asking) for "
        r"(?=(?:an?|the|some|two|his|her|their)\b)",
        "wants ",
    ),
    # 'into the sink with it'
    (
        r"(?:^|(?<=[,.;:!?] ))((?:in|on)?to the [\w ]+?) with "
        r"((?:it|them|him|her|that|the [\w ]+?|my [\w ]+?))(?=\s*(?:[,.;!?]|$))",
        r"put \2 \1",
    ),
    (r"\bchop[- ]chop\b,?|(?:^|(?<=[.!?;] ))at least,? (?=\w)", ""),
    (r"(?:^|(?<=[.,!?;] ))(can't|cannot|couldn't) (?=\w)", r"i \1 "),
    # 'the pan stays where it is'
    (
        r"\b((?:the|my|this|that|those|these) [\w ]+?) (?:(?:should|must|can|may|has to|have to) )?"
        r"(?:stays?|remains?) (?:put|where (?:it is|it's|they are))\b",
        r"do not move \1",
    ),
    (
        r"\bleave ((?:the|my|all|both|this|that) [^,.;!?]*?) where (?:it is|it's|they are)\b",
        r"do not move \1",
    ),
    (r"\b(?:can|could|may|might) i (?:trouble|bother) you for\b", "i want"),
    (r"(?<=\w) (?:\+|&) (?=\w)", " and "),
    (r"\b2 (?=(?:the|my|a|an)\b)", "to "),
    # 'the pot, which is on the stove, …'
    (r",\s*(?:which|that) (is|are|was|were) ((?:in|on|at|inside|by)\b[^,.;!?]*),", r" that \1 \2"),
)


@cache
def _forms() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), plain) for pattern, plain in _FORMS)


def plainly(request: str) -> str:
    """Rewrite the polite and roundabout phrases of a request as plain ones.

    A request of few words, or one that consists only of such phrases, is returned unchanged.
    """
    text = request.replace("\u2019", "'")
    if len(text.split()) < _SHORTEST:
        return request
    for form, plain in _forms():
        text = form.sub(plain, text)
    return text if text.strip(" ,.;!?") else request


# Limits ----------------------------------------------------------------------------

_TRIGGER = re.compile(r"\b(?:never|ever|don't|do not)\b", re.IGNORECASE)

_TOGETHER = r"(?:together|at once|at the same time|simultaneously)"
_BOTH = re.compile(
    rf"\b(?:never|do not(?: ever)?|don't(?: ever)?) (?P<have>have|leave|keep) "
    rf"(?:both )?(?P<things>[^,.;]+? and [^,.;]+?) (?P<state>\w+) {_TOGETHER}",
    re.IGNORECASE,
)
_EVER_HAVING = re.compile(r",? without ever (?P<have>hav|leav|keep)ing\b", re.IGNORECASE)


def plain_limits(request: str) -> str:
    """Reword limits such as 'never have A and B open together'."""
    if _TRIGGER.search(request) is None:
        return request
    stems = {"hav": "have", "leav": "leave", "keep": "keep"}
    request = _EVER_HAVING.sub(lambda m: f". never {stems[m['have'].lower()]}", request)
    return _BOTH.sub(
        lambda m: f"never {m['have']} two of {m['things']} {m['state']} at once", request
    )
