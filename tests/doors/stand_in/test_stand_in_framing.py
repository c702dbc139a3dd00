"""The bytes of pipes and posts, checked by the client's own readers where possible."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hvr.doors.stand_in import protocol
from hvr.doors.stand_in.protocol import Field, ProtocolError, field, read_action

actions = st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text()))


def _message(action: dict[str, Any]) -> bytes:
    return field(Field.ACTION, json.dumps(action).encode()) + field(Field.END_OF_MESSAGE)


@pytest.mark.slow
@given(st.lists(actions, max_size=4), st.data())
def test_actions_come_out_one_by_one_until_the_stream_ends(
    sent: list[dict[str, Any]], data: st.DataObject
) -> None:
    whole = b"".join(map(_message, sent))
    cut = data.draw(st.integers(0, len(whole)))
    pipe = io.BytesIO(whole[:cut])
    complete, length = 0, 0
    for action in sent:
        length += len(_message(action))
        complete += length <= cut
    got = [read_action(pipe) for _ in range(complete + 1)]
    assert got == [*sent[:complete], None]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (field(Field.METADATA, b"{}"), "type 1"),
        (field(Field.END_OF_MESSAGE), "without an action"),
        (field(Field.ACTION, b"{") + field(Field.END_OF_MESSAGE), "not JSON"),
        (field(Field.ACTION, b"\xff\xfe\xfa") + field(Field.END_OF_MESSAGE), "not JSON"),
        (field(Field.ACTION, b"[1]") + field(Field.END_OF_MESSAGE), "JSON object"),
    ],
)
def test_what_is_no_action_is_said_in_one_line(data: bytes, said: str) -> None:
    with pytest.raises(ProtocolError, match=said) as error:
        read_action(io.BytesIO(data))
    assert "\n" not in str(error.value)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@given(st.text(), st.text("0123456789abcdef-", min_size=1), st.none() | st.binary())
def test_the_client_parses_the_post(text: str, token: str, image: bytes | None) -> None:
    parser = pytest.importorskip(
        "ai2thor.wsgi_server", reason="the client is the package ai2thor (extra thor)"
    ).MultipartFormParser
    metadata = json.dumps({"errorMessage": text}).encode()
    boundary = parser.get_boundary([("Content-Type", protocol.CONTENT_TYPE)])
    assume(boundary not in (image or b""))
    form = parser(protocol.body(metadata, token, image), boundary)
    assert form.form == {"metadata": [metadata.decode()], "token": [token]}
    assert {k: [bytes(v) for v in vs] for k, vs in form.files.items()} == (
        {} if image is None else {"image": [image]}
    )
