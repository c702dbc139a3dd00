"""`hvr check`: check that a certificate proves its verdict."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hvr.base.printable import one_line
from hvr.errors import DataFileError

_DESCRIPTION = """\
Check the certificate of a plan, as hvr validate --certificate writes it. The plan is executed from
the definitions, without the validator's code, and compared with the certificate all the way.
"""

_EPILOG = """\
examples:
  hvr validate domain.pddl problem.pddl plan.txt --certificate plan.json
  hvr check plan.json domain.pddl problem.pddl plan.txt

exit codes:
  0  the certificate proves its verdict, valid or invalid, which is printed
  1  the certificate is not a proof, or the checker does not support it
  2  a file cannot be read, or is not a certificate
"""


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("certificate", metavar="CERTIFICATE", type=Path, help="the certificate")
    parser.add_argument("domain", metavar="DOMAIN", type=Path, help="the domain")
    parser.add_argument("problem", metavar="PROBLEM", type=Path, help="the problem")
    parser.add_argument("plan", metavar="PLAN", type=Path, help="the plan")


def run_check(args: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    import json

    from hvr.base.texts import read_bytes
    from hvr.pddl.checker import UnprovenError, check

    text = read_bytes(args.certificate)
    files = [read_bytes(path) for path in (args.domain, args.problem, args.plan)]
    try:
        certificate = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataFileError(f"{args.certificate} is not a certificate: {error}") from error
    try:
        verdict = check(certificate, files)
    except UnprovenError as error:
        print(one_line(f"{args.certificate} is not a proof: {error}"), file=sys.stderr)
        return 1
    print(one_line(f"{args.plan}: proven {verdict} {_terms(certificate)}"))
    return 0


def _terms(certificate: dict[str, Any]) -> str:
    options, fault = certificate["options"], certificate["fault"]
    rules = [f"{name} {options[name]}" for name in ("epsilon", "tolerance")]
    rules += [name.replace("_", " ") for name in ("lenient", "any_order") if options[name]]
    claims = [f"{key} {value}" for key, value in (fault or {}).items() if key != "falsifier"]
    return f"({', '.join(rules)})" + (f": {', '.join(claims)}" if claims else "")
