"""The process: environment variables and command line, then a conversation."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from hvr.doors.stand_in.conversation import Conversation, SceneRenderer, converse
from hvr.doors.stand_in.launcher import DESCRIPTION, add_arguments
from hvr.doors.stand_in.messages import JsonEncoder, Link, MsgpackEncoder, ProtocolError
from hvr.doors.stand_in.transports import FifoLink, HttpLink, refuse
from hvr.errors import HvrError, UsageError
from hvr.worlds.kitchen import Kitchen

_PREFIX = "AI2THOR_"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def main(given: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Serve one client.

    Args:
        given: the command line: options of this process and of Unity's.
        environ: where the client says how to reach it.

    Returns:
        the exit code, 0: the client stopped or went away.

    Raises:
        UsageError: started with neither a client's environment nor `--port`, or an option
            cannot be used, or the client is not where it should be.
        ProtocolError: the client does not speak AI2-THOR's protocol.
        MissingExtraError: msgpack is not installed.
        SceneError: the scenes are not installed.
    """
    variables = {k.removeprefix(_PREFIX): v for k, v in environ.items() if k.startswith(_PREFIX)}
    try:
        options = _options(given, started_by_client="SERVER_TYPE" in variables)
        conversation = Conversation(
            Kitchen(seed=options.seed, profile=options.profile),
            options.width,
            options.height,
            None if variables.get("SERVER_SIDE_SCREENSHOT") == "False" else SceneRenderer(),
        )
        link = _link(options, variables)
    except HvrError:
        if pipe := variables.get("FIFO_SERVER_PIPE_PATH"):
            refuse(Path(pipe))
        raise
    # Everything loaded so far stays, so the garbage collector need not look through it again.
    gc.freeze()
    converse(conversation, link)
    return 0


def _options(given: Sequence[str], *, started_by_client: bool) -> argparse.Namespace:
    parser = _Parser(
        "hvr scene serve",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_arguments(parser)
    if started_by_client:
        # Unity takes more options than are of interest here.
        return parser.parse_known_args(given)[0]
    return parser.parse_args(given)


def _link(options: argparse.Namespace, variables: Mapping[str, str]) -> Link:
    reuse = not options.pack_anew
    if options.port is not None:
        return HttpLink(options.host, options.port, "", JsonEncoder(reuse), options.wait)
    kind = variables.get("SERVER_TYPE")
    if kind is None:
        raise UsageError(
            "this is started by AI2-THOR's Python client, Controller(local_executable_path="
            "'hvr scene serve', ...); by hand, give --port of a client that listens (--help)"
        )
    try:
        if kind.upper() == "FIFO":
            return FifoLink(
                Path(variables["FIFO_SERVER_PIPE_PATH"]),
                Path(variables["FIFO_CLIENT_PIPE_PATH"]),
                MsgpackEncoder(reuse),
            )
        if kind.upper() == "WSGI":
            host, port = variables["HOST"], int(variables["PORT"])
            return HttpLink(host, port, variables.get("CLIENT_TOKEN", ""), JsonEncoder(reuse))
    except KeyError as error:
        raise UsageError(f"the environment variable {_PREFIX}{error.args[0]} is not set") from None
    except ValueError:
        raise UsageError(f"{_PREFIX}PORT must be a number, not {variables['PORT']!r}") from None
    raise ProtocolError(f"{_PREFIX}SERVER_TYPE is {kind!r}; known are FIFO and WSGI")
