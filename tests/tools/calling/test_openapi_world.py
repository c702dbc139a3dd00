"""Operations of an OpenAPI document, called at a real HTTP server on loopback."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hvr.errors import HvrError
from hvr.knowledge.world_file import WorldFile
from hvr.tools.calling.calls import CallFailure, CallOutcome, ToolCall
from hvr.tools.calling.openapi_world import OpenApiServer, OpenApiTools
from hvr.tools.calling.worlds import check_tools, open_tools
from hvr.tools.catalogue.schema import Effect
from tests.tools.calling.shop_server import Shop, running


def placed(name: str, place: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": {"type": kind},
            "required": place == "path", **more}  # fmt: skip


def body(schema: dict[str, Any], media: str = "application/json") -> dict[str, Any]:
    return {"requestBody": {"content": {media: {"schema": schema}}}}


TAGS = {"type": "array", "items": {"type": "string"}}
ITEM = {"type": "object", "properties": {
    "name": {"type": "string"}, "price": {"type": "number"}, "tags": TAGS}}  # fmt: skip
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "servers": [{"url": "https://{host}/v1", "variables": {"host": {"default": "shop.invalid"}}}],
    "security": [{"key": []}],
    "paths": {
        "/items/{itemId}": {
            "parameters": [placed("itemId", "path")],
            "get": {"operationId": "get_item", "parameters": [
                placed("lang", "header"), placed("basket", "cookie"),
                placed("tags", "query", "array"),
                placed("sizes", "query", "array", explode=False),
                placed("near", "query", "object", style="deepObject")]},
            "delete": {"operationId": "delete_item", "security": []},
        },
        "/items": {
            "get": {"operationId": "list_items", "security": [{"name": [], "key": []},
                                                             {"token": []}]},
            "post": {"operationId": "add_item", **body(ITEM)},
        },
        "/forms": {"post": {"operationId": "send_form",
                            **body(ITEM, "application/x-www-form-urlencoded")}},
        "/parts": {"post": {"operationId": "send_parts", **body(ITEM, "multipart/form-data")}},
        "/notes": {"put": {"operationId": "write_note", **body({"type": "string"}, "text/plain")}},
        "/xml": {"post": {"operationId": "send_xml", **body(ITEM, "application/xml")}},
        "/lists": {"post": {"operationId": "send_list", **body(
            {"type": "array", "items": {"type": "integer"}})}},
        "/elsewhere": {"get": {"operationId": "elsewhere",
                               "servers": [{"url": "http://localhost:1/other"}]}},
    },
    "components": {"securitySchemes": {
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "token": {"type": "http", "scheme": "bearer"},
        "name": {"type": "http", "scheme": "basic"},
    }},
}  # fmt: skip


@pytest.fixture
def shop() -> Iterator[Shop]:
    with running() as shop:
        yield shop


@pytest.fixture
def tools(shop: Shop, tmp_path: Path) -> OpenApiTools:
    return opened(tmp_path, shop.url)


def opened(folder: Path, url: str, seconds: float = 30.0, **auth: str) -> OpenApiTools:
    file = folder / "shop.json"
    file.write_text(json.dumps(DOCUMENT))
    return OpenApiTools(OpenApiServer(file, url, seconds, auth))


def call(tools: OpenApiTools, tool: str, /, **arguments: Any) -> CallOutcome:
    return tools.call(ToolCall(tool, arguments))


def test_each_argument_goes_where_the_document_says(shop: Shop, tools: OpenApiTools) -> None:
    shop.answer("/items/a%2Fb%3F", {"name": "lamp"})
    outcome = call(tools, "get_item", itemId="a/b?", lang="de", basket="b 1", tags=["x&y", "z"],
                   sizes=["s", "m"], near={"lat": 1.5})  # fmt: skip
    assert outcome.result == {"name": "lamp"}
    (heard,) = shop.heard
    assert heard.target == "/items/a%2Fb%3F?tags=x%26y&tags=z&sizes=s,m&near[lat]=1.5"
    assert (heard.headers["lang"], heard.headers["Cookie"]) == ("de", "basket=b%201")
    assert "X-Key" not in heard.headers


@pytest.mark.parametrize(
    ("tool", "path", "media", "sent"),
    [
        ("add_item", "/items", "application/json", '{"name": "a&b", "tags": ["x", "y"]}'),
        ("send_form", "/forms", "application/x-www-form-urlencoded", "name=a%26b&tags=x&tags=y"),
    ],
)
def test_bodies_are_json_and_forms(
    shop: Shop, tools: OpenApiTools, tool: str, path: str, media: str, sent: str
) -> None:
    shop.answer(path, {}, 201)
    assert call(tools, tool, name="a&b", tags=["x", "y"]).ok
    assert (shop.heard[0].body, shop.heard[0].headers["Content-Type"]) == (sent, media)


def test_bodies_are_parts_texts_and_lists(shop: Shop, tools: OpenApiTools) -> None:
    for path in ("/parts", "/notes", "/lists"):
        shop.answer(path, None)
    assert call(tools, "send_parts", name='a"b').ok
    assert 'name="name"\r\n\r\na"b\r\n' in shop.heard[0].body
    assert call(tools, "write_note", body="héllo").ok and shop.heard[1].body == "héllo"
    assert call(tools, "send_list", body=[1, 2]).ok and shop.heard[2].body == "[1, 2]"


def test_methods_say_what_an_operation_does(tools: OpenApiTools) -> None:
    effects = {tool.name: tool.effect for tool in tools.catalogue.tools}
    assert effects["get_item"] is Effect.READS and effects["add_item"] is Effect.WRITES
    assert effects["delete_item"] is Effect.DESTROYS
    (left_out,) = tools.catalogue.left_out
    assert "POST '/xml'" in left_out and "send_xml" not in effects


@pytest.mark.parametrize("value", ["", ".", "..", "..."])
def test_no_argument_leads_to_another_path(shop: Shop, tools: OpenApiTools, value: str) -> None:
    outcome = call(tools, "delete_item", itemId=value)
    assert (outcome.failure, shop.heard) == (CallFailure.BAD_ARGUMENTS, [])


def test_no_argument_adds_a_header(shop: Shop, tools: OpenApiTools) -> None:
    outcome = call(tools, "get_item", itemId="1", lang="de\r\nX-Key: stolen")
    assert (outcome.failure, shop.heard) == (CallFailure.BAD_ARGUMENTS, [])


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (400, CallFailure.BAD_ARGUMENTS), (401, CallFailure.REFUSED), (404, CallFailure.REFUSED),
        (409, CallFailure.REFUSED), (422, CallFailure.BAD_ARGUMENTS),
        (429, CallFailure.UNAVAILABLE), (500, CallFailure.UNAVAILABLE),
        (504, CallFailure.TIMED_OUT),
    ],
)  # fmt: skip
def test_errors_are_outcomes(
    shop: Shop, tools: OpenApiTools, status: int, failure: CallFailure
) -> None:
    shop.answer("/items", {"message": "sold out"}, status)
    outcome = call(tools, "add_item", name="x")
    assert outcome.failure is failure
    assert f"HTTP {status}" in outcome.error and "sold out" in outcome.error


def test_secrets_come_from_the_environment_and_stay_with_the_server(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "k-123")
    monkeypatch.setenv("SHOP_TOKEN", "t-456")
    tools = opened(tmp_path, shop.url, key="SHOP_KEY", token="SHOP_TOKEN")
    shop.answer("/items", [])
    call(tools, "add_item", name="x")
    call(tools, "list_items")  # the first alternative needs a scheme without a variable
    assert shop.heard[0].headers["X-Key"] == "k-123"
    assert shop.heard[1].headers["Authorization"] == "Bearer t-456"
    assert "X-Key" not in shop.heard[1].headers
    shop.answer("/items/1", None)
    call(tools, "delete_item", itemId="1")  # the operation needs no secret
    assert "X-Key" not in shop.heard[2].headers
    with running() as other:
        other.answer("/items", [1])
        shop.answer("/items", None, 302, Location=f"{other.url}/items")
        assert call(tools, "list_items").result == [1]
        assert "Authorization" not in other.heard[0].headers


def test_a_secret_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HvrError, match="NO_SUCH_KEY is not set"):
        opened(tmp_path, "http://127.0.0.1:1", key="NO_SUCH_KEY")
    with pytest.raises(HvrError, match="no security scheme named 'kee'"):
        opened(tmp_path, "http://127.0.0.1:1", kee="PATH")


def test_a_server_that_asks_who_calls_says_which_secret(shop: Shop, tools: OpenApiTools) -> None:
    shop.answer("/items", {}, 401)
    assert "a variable with the secret of key" in call(tools, "add_item", name="x").error


def test_redirects_never_write_twice_or_elsewhere(shop: Shop, tools: OpenApiTools) -> None:
    with running() as other:
        for status in (301, 302, 307, 308):
            shop.answer("/items", None, status, Location=f"{other.url}/items?key=secret")
            outcome = call(tools, "add_item", name="x")
            assert outcome.failure is CallFailure.WRONG_TYPE
            assert other.url in outcome.error and "secret" not in outcome.error
        assert other.heard == []
    shop.answer("/items", None, 307, Location="/lists")
    shop.answer("/lists", {"done": True})
    assert call(tools, "add_item", name="x").result == {"done": True}
    assert (shop.heard[-1].method, shop.heard[-1].body) == ("POST", '{"name": "x"}')
    shop.answer("/items", None, 303, Location="/lists")
    assert call(tools, "add_item", name="x").result == {"done": True}
    assert (shop.heard[-1].method, shop.heard[-1].body) == ("GET", "")
    shop.answer("/items", None, 302, Location="/items")
    assert "more than 5 times" in call(tools, "list_items").error


def test_loopback_is_never_proxied(
    shop: Shop, tools: OpenApiTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        shop.answer("/items", [])
        assert call(tools, "list_items").ok and proxy.heard == []


def test_other_servers_are_reached_through_the_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:pass@"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        proxy.answer("http://shop.invalid/items", [1])
        assert call(opened(tmp_path, "http://shop.invalid"), "list_items").result == [1]
        assert proxy.heard[0].headers["Proxy-Authorization"].startswith("Basic ")


def test_a_slow_answer_ends_with_the_time(shop: Shop, tmp_path: Path) -> None:
    shop.answer("/items", ["a", "b", "c", "d"])
    shop.wait = 0.1  # each byte arrives in time, but all of them do not
    outcome = call(opened(tmp_path, shop.url, 0.5), "list_items")
    assert outcome.failure is CallFailure.TIMED_OUT


def test_what_is_no_server_or_no_json_is_an_outcome(shop: Shop, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    gone = call(opened(tmp_path, f"http://127.0.0.1:{port}"), "list_items")
    assert gone.failure is CallFailure.UNAVAILABLE and str(port) in gone.error
    shop.answers["/items"] = 200, {"Content-Type": "application/json"}, b"<html>"
    odd = call(opened(tmp_path, shop.url), "list_items")
    assert odd.failure is CallFailure.WRONG_TYPE
    shop.answers["/items"] = 200, {"Content-Type": "image/png"}, b"\x89PNG"
    picture = call(opened(tmp_path, shop.url), "list_items")
    assert picture.result == {"type": "image/png", "bytes": 4}


def test_the_address_is_that_of_the_world_or_the_document(tmp_path: Path) -> None:
    opened(tmp_path, "")  # the document's address, with its variable's default
    with pytest.raises(HvrError, match="write server ="):
        opened(tmp_path, "/v1")
    with pytest.raises(HvrError, match="write server ="):
        opened(tmp_path, "file:///etc")


DESK = '''
def get_item(itemId: str) -> str:
    """Show an item of the desk."""
    return itemId

def look(name: str) -> str:
    """Look something up."""
    return name
'''


def world(folder: Path, tools: str) -> WorldFile:
    (folder / "shop.json").write_text(json.dumps(DOCUMENT))
    (folder / "desk.py").write_text(DESK)
    (folder / "shelf.py").write_text(DESK.replace("def look", "def dust"))
    (folder / "world.toml").write_text(f"[tools]\n{tools}\n")
    return WorldFile(folder)


def test_a_world_has_several_sources(shop: Shop, tmp_path: Path) -> None:
    shop.answer("/items/1", {"name": "lamp"})
    made = world(
        tmp_path,
        f'openapi = {{ file = "shop.json", server = "{shop.url}" }}\n'
        'module = ["desk", "shelf"]\nreads = ["desk.get_item", "look"]',
    )
    tools = open_tools(made)
    effects = {tool.name: tool.effect for tool in tools.catalogue.tools}
    assert {"shop.get_item", "desk.get_item", "shelf.get_item", "look", "dust"} <= set(effects)
    assert effects["desk.get_item"] is Effect.READS and "get_item" not in effects
    outcome = tools.call(ToolCall("desk.get_item", {"itemId": "7"}))
    assert (outcome.result, outcome.call.tool) == ("7", "desk.get_item")
    assert tools.call(ToolCall("shop.get_item", {"itemId": "1"})).result == {"name": "lamp"}
    tools.reset()
    assert tools.state() is None
    tools.close()
    (finding,) = check_tools(made)
    assert "POST '/xml'" in finding


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ('module = ["desk", "gone"]', "'gone'"),
        ('module = "desk"\nopenapi = "gone.json"', "gone.json"),
        ('module = "desk"\nopenapi = { file = "desk.py" }', "desk.py"),
        ('module = "desk"\nopenapi = { server = "http://a" }', "openapi must be"),
        ('module = []', "module must list at least one source"),
        ('module = "desk"\nmcp = { name = "far", url = "http://127.0.0.1:1/mcp" }', ":1/mcp"),
    ],
)  # fmt: skip
def test_a_broken_source_is_named(tmp_path: Path, tools: str, said: str) -> None:
    with pytest.raises(HvrError) as wrong:
        open_tools(world(tmp_path, tools))
    assert said in str(wrong.value)
