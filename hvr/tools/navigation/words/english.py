"""English words that have the same meaning in every tool world, and word stems."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

# English ------------------------------------------------------------------------------------------

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

RELATIVE_DAYS = ("today", "tomorrow", "yesterday")

_MONTHS = """january february march april may june july august september october november
december""".split()

MONTHS: Mapping[str, int] = {
    **{name: number for number, name in enumerate(_MONTHS, 1)},
    **{name[:3]: number for number, name in enumerate(_MONTHS, 1)},
    "sept": 9,
}
"""Month numbers, by full and abbreviated name."""

_SMALL = """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()

NUMBER_WORDS: Mapping[str, int] = {
    "zero": 0,
    **{word: number for number, word in enumerate(_SMALL, 1)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
    "million": 1_000_000,
}
"""Words that form numbers."""

ORDINALS: Mapping[str, int] = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "last": -1, "final": -1,
}  # fmt: skip

UNITS: Mapping[str, str] = {
    alias: unit
    for unit, aliases in {
        "milligram": "mg milligram milligramme", "gram": "g gram gramme",
        "kilogram": "kg kilo kilogram kilogramme", "pound": "lb lbs pound",
        "ounce": "oz ounce", "meter": "m meter metre", "kilometer": "km kilometer kilometre",
        "centimeter": "cm centimeter centimetre", "mile": "mi mile", "foot": "ft foot feet",
        "liter": "l liter litre", "milliliter": "ml milliliter millilitre", "gallon": "gal gallon",
        "second": "sec second", "minute": "min minute", "hour": "h hr hour", "day": "day",
        "night": "night",
        "week": "week", "month": "month", "year": "year", "millisecond": "ms millisecond",
        "dollar": "$ usd dollar buck", "euro": "€ eur euro", "cent": "cent",
        "percent": "% percent", "degree": "° degree", "byte": "byte", "kilobyte": "kb kilobyte",
        "megabyte": "mb megabyte", "gigabyte": "gb gigabyte", "psi": "psi",
    }.items()
    for alias in aliases.split()
}  # fmt: skip
"""Units by spelling, without the plural s."""

CONVERSIONS: Mapping[tuple[str, str], float] = {
    ("kilogram", "gram"): 1000, ("gram", "kilogram"): 0.001, ("kilometer", "meter"): 1000,
    ("meter", "kilometer"): 0.001, ("meter", "centimeter"): 100, ("centimeter", "meter"): 0.01,
    ("minute", "second"): 60, ("hour", "second"): 3600, ("hour", "minute"): 60,
    ("second", "millisecond"): 1000, ("day", "hour"): 24, ("dollar", "cent"): 100,
    ("euro", "cent"): 100, ("week", "day"): 7, ("week", "night"): 7, ("day", "night"): 1,
    ("night", "day"): 1, ("year", "month"): 12, ("day", "week"): 1 / 7,
    ("liter", "milliliter"): 1000, ("milliliter", "liter"): 0.001,
}  # fmt: skip
"""Conversion factors between units."""

_CAPITALS = """I You He She We They It The A An My I'm I'd I've I'll OK Please English AM PM ID URL
Hi Hello Hey FYI ASAP PS""".split()

LOOSE_CAPITALS = frozenset(
    [*(day.capitalize() for day in WEEKDAYS), *(month.capitalize() for month in _MONTHS),
     *_CAPITALS]
)  # fmt: skip
"""Capitalised words that are not proper names."""

DETERMINERS = frozenset(
    """a an the my your our his her its their this that these those all every each both some any
    no another""".split()
)

PRONOUNS = frozenset("it them that this these those one ones they him her".split())

PREPOSITIONS = frozenset(
    """to from in into on onto at of for with by under over about as via per between through
    inside within up out off toward towards around near against across""".split()
)

AUXILIARIES = frozenset(
    """is are was were am be been being do does did has have had can could will would shall should
    may might must""".split()
)

QUESTION_WORDS = frozenset("what when where which who whom whose why how whether".split())

ADVERBS = frozenset(
    """please kindly just also now then first finally next quickly immediately simply really only
    again still so well actually maybe perhaps too additionally subsequently afterwards afterward
    later once already right away directly soon currently properly exactly precisely here there
    instead ahead back together well meanwhile thereafter lastly secondly firstly presently
    somewhere anywhere indeed even yet moment know""".split()
)

COURTESY = frozenset(
    """hi hello hey thanks thank ok okay alright sure great cheers dear sorry excuse me
    appreciated favor favour assistance""".split()
)

SUBJECTS = frozenset("i you he she it we they somebody someone there".split())

ACTIONS: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        # Verbs that read.
        """get show read display view see fetch retrieve look find give tell provide return check
        print open inspect describe load pull bring know lookup explain access""",
        "find search locate lookup query look seek grep",
        "list show enumerate display see view get browse",
        "check verify test validate inspect confirm see",
        "count number",
        "compare diff",
        "convert translate transform",
        "calculate compute work estimate determine add evaluate sum",
        "estimate quote determine calculate predict gauge assess tell",
        # Verbs that write.
        "create make add new build generate initialize init start open set craft draft",
        "add insert append put include attach",
        "write save store put record populate fill",
        "update change edit modify alter adjust revise amend correct",
        "set change assign configure adjust put raise increase lower decrease reduce",
        "delete remove erase drop discard wipe destroy clear",
        "cancel abort revoke",
        "move relocate transfer shift",
        "rename",
        "copy duplicate clone replicate",
        "send post deliver mail transmit forward dispatch submit message",
        "forward redirect send reroute",
        "post publish share tweet",
        "book reserve schedule arrange secure",
        "buy order purchase",
        "sell",
        "pay settle",
        "refund reimburse",
        "return",
        "exchange swap replace",
        "start begin launch run open initiate boot ignite",
        "stop end halt terminate quit close",
        "close shut",
        "open file raise submit register",
        "lock secure",
        "unlock",
        "enable activate engage turn start",
        "disable deactivate turn stop",
        "connect link join",
        "disconnect",
        "switch checkout change go",
        "commit",
        "stage add",
        "reset unstage undo",
        "reply respond answer comment",
        "sort order arrange",
        "log authenticate login sign",
        "resolve close fix",
        "fill refill refuel top add",
        "echo repeat print say",
        "go navigate change cd enter",
        "extract get",
        "collect pick fetch gather",
        "lend borrow loan",
        "approve accept",
        "reject decline deny",
        "assign allocate",
        "upload push", "download pull fetch",
        "call phone ring",
        "invite", "subscribe", "unsubscribe", "follow", "unfollow", "like", "archive", "restore",
        "transfer hand escalate", "suspend pause", "resume continue", "reboot restart",
        "grant allow", "block", "import", "export", "merge", "rate", "review",
    )
)  # fmt: skip
"""Groups of verbs for similar actions; a verb may be in several groups."""

PHRASAL: Mapping[str, str] = {
    "call off": "cancel", "look up": "lookup", "look for": "find", "look at": "view",
    "turn off": "disable", "turn on": "enable", "switch off": "disable", "switch on": "enable",
    "take off": "remove", "take out": "remove", "get rid": "delete", "throw away": "delete",
    "throw out": "delete", "set up": "create", "send back": "return", "give back": "return",
    "bring back": "return", "pick up": "collect", "find out": "determine", "work out": "calculate",
    "figure out": "determine", "sign up": "register", "log in": "login", "log out": "logout",
    "top up": "fill", "fill up": "fill", "shut down": "stop", "hand over": "transfer",
    "write down": "write", "print out": "print", "go to": "navigate", "undo": "reset",
    "check out": "checkout", "switch to": "switch", "make sure": "ensure", "be sure": "ensure",
    "change to": "switch", "add up": "add", "back up": "backup",
}  # fmt: skip
"""Phrasal verbs, each with a single verb of the same meaning."""

RESTRICTIONS = frozenset(
    """not no nothing nobody none never only except but else other others everything anything
    neither nor without unless else""".split()
)
"""Words that restrict a request. A writing call must account for each of them."""

TO_WORDS = frozenset("to into onto toward towards as".split())
FROM_WORDS = frozenset("from off".split())
END_NAMES = frozenset("to target destination dest new receiver recipient output end until".split())
START_NAMES = frozenset("from source origin src old start base input since begin".split())
NAMED = (
    "named",
    "called",
    "titled",
    "entitled",
    "dubbed",
    "labelled",
    "labeled",
    "naming",
    "calling",
)
"""Words before a name."""
NAMING = frozenset([*NAMED, "name"])

SENSES: Mapping[str, tuple[str, ...]] = {
    "notify": ("message", "notification"),
    "big": ("size",), "large": ("size",), "small": ("size",), "heavy": ("weight",),
    "far": ("distance",), "old": ("age",), "long": ("duration", "length"), "high": ("height",),
    "much": ("price", "cost", "amount", "total"), "many": ("count", "number", "total"),
    "where": ("location", "place", "address", "position"), "when": ("date", "time"),
    "who": ("user", "person", "customer", "owner", "author", "name"),
    "expensive": ("price", "cost"), "inside": ("content",), "contain": ("content",),
    "says": ("content",), "say": ("content",), "text": ("content",), "cost": ("price",),
    "price": ("cost",), "late": ("time",), "plus": ("sum", "add"), "minus": ("subtract",),
    "times": ("multiply",), "temperature": ("weather",),
}  # fmt: skip
"""Nouns implied by a question word."""

SUPERLATIVES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "cheapest": ("least", ("price", "cost", "amount", "fee")),
    "dearest": ("most", ("price", "cost", "amount", "fee")),
    "priciest": ("most", ("price", "cost", "amount", "fee")),
    "latest": ("most", ("date", "time", "created", "updated", "timestamp")),
    "newest": ("most", ("date", "time", "created", "updated", "timestamp")),
    "earliest": ("least", ("date", "time", "created", "updated", "timestamp")),
    "oldest": ("least", ("date", "time", "created", "age", "timestamp")),
    "biggest": ("most", ("size", "amount", "total", "volume")),
    "largest": ("most", ("size", "amount", "total", "volume")),
    "smallest": ("least", ("size", "amount", "total", "volume")),
    "heaviest": ("most", ("weight",)), "lightest": ("least", ("weight",)),
    "longest": ("most", ("length", "duration")), "shortest": ("least", ("length", "duration")),
    "nearest": ("least", ("distance",)), "closest": ("least", ("distance",)),
    "fastest": ("least", ("duration", "time")), "best": ("most", ("rating", "score")),
    "worst": ("least", ("rating", "score")),
}  # fmt: skip
"""Superlatives, with the end of the order that each selects and the properties it may compare."""


# Stems --------------------------------------------------------------------------------------------
# Stems make "cancellation", "cancels" and "cancelled" comparable.

_IRREGULAR = {
    form: base
    for base, forms in {
        "send": "sent", "pay": "paid", "buy": "bought", "sell": "sold", "make": "made",
        "find": "found", "get": "got gotten", "give": "gave given", "take": "took taken",
        "write": "wrote written", "lend": "lent", "bring": "brought", "tell": "told",
        "say": "said", "show": "shown", "see": "saw seen", "read": "read", "run": "ran",
        "go": "went gone", "put": "put", "set": "set", "begin": "began begun", "say ": "says",
        "child": "children", "person": "people", "box": "boxes", "hide": "hidden",
        "choose": "chose chosen", "keep": "kept", "leave": "left", "lose": "lost", "meet": "met",
        "directory": "dir dirs folder folders", "message": "msg", "repository": "repo repos",
        "delivery": "delivered deliver", "number": "num", "photograph": "photo",
        "temperature": "temp", "information": "info", "address": "addr",
    }.items()
    for form in forms.split()
}  # fmt: skip

_ENDINGS = re.compile(
    r"(?:ations?|ating|ated|ates?|ators?|ings?|ed|ions?|ments?|ers?|ors?|ies|y|es|e|s|ly|als?)$"
)


_PARTICIPLES = frozenset(
    """sent paid bought sold made found gotten given taken written lent brought told said shown seen
    gone begun chosen kept left lost met""".split()
)


def is_participle(word: str) -> bool:
    """Return whether a lower-case word is an irregular past form that is not also an imperative."""
    return word in _PARTICIPLES


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    plain = word.lower().removesuffix("'s").strip("'").replace("e-mail", "email")
    plain = _IRREGULAR.get(plain, plain)
    if len(plain) <= 3:
        return plain.removesuffix("s") if len(plain) == 3 and plain not in ("bus", "gas") else plain
    if plain.endswith(("sses", "ss")):
        return plain.removesuffix("es")
    for _ in range(2):
        cut = _ENDINGS.sub("", plain)
        if cut == plain or len(cut) < 3 or not re.search("[aeiouy]", cut):
            break
        plain = cut
        if len(plain) > 3 and plain[-1] == plain[-2] and plain[-1] not in "sz":
            plain = plain[:-1]
    return plain


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words in a text; identifiers are split into words."""
    return frozenset(stem(word) for word in words_in(text))


def words_in(text: str) -> list[str]:
    """Return the words of a text in lower case; identifiers are split into words."""
    text = re.sub(r"\b([Ee])-(?=mail)", r"\1", text)
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+(?:'[a-z]+)?", text)
    return [word.lower() for word in found]
