"""The HTML and SVG helpers: outside text never becomes markup."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.runs.report.charts import element, escaped, page, paragraph, table, tooltip

HOSTILE = "<script>'\"&$title</td>"


@pytest.mark.slow
@given(text=st.text())
def test_any_text_is_well_formed_as_content_and_as_attribute(text: str) -> None:
    root = ElementTree.fromstring(element("p", escaped(text), data_text=text))
    assert list(root) == []
    assert list(root.attrib) == ["data-text"]
    if text.isprintable():
        assert (root.text or "", root.get("data-text")) == (text, text)


def test_attributes_have_their_names_and_numbers_one_decimal() -> None:
    text = element("rect", class_="c0", text_anchor="end", x=1, y=2.25, rx=None)
    assert text == '<rect class="c0" text-anchor="end" x="1" y="2.2"/>'


def test_only_shapes_of_svg_have_the_short_form() -> None:
    assert element("rect") == "<rect/>"
    assert element("rect", tooltip("a")) == "<rect><title>a</title></rect>"
    assert element("tbody") == "<tbody></tbody>"


def test_text_stays_text() -> None:
    for markup in (
        paragraph(HOSTILE, "note"),
        table(HOSTILE, [HOSTILE], [[HOSTILE, HOSTILE]], HOSTILE),
        page(HOSTILE, "<p></p>"),
    ):
        assert "<script>" not in markup
        assert escaped(HOSTILE) in markup


def test_a_paragraph_without_text_is_none() -> None:
    assert paragraph("", "note") == ""


def test_what_is_put_into_a_page_is_not_filled_again() -> None:
    text = page("a title", "<p>$title ${body} $$</p>", styles=["/* $script */"], script="`${x}`")
    assert "<p>$title ${body} $$</p>" in text
    assert "/* $script */" in text
    assert "`${x}`" in text
    assert "<script>" not in page("a title", "<p></p>")
