"""A page is one that a browser, a printer and somebody who hears it can use; what is wrong with one
is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import labapp
from labapp.base.report.page import Html, details, figure, heading, page, paragraph, table
from tests.helpers.pages import problems

SVG = '<svg viewBox="0 0 10 10"><g id="mark"/><use xlink:href="#mark"/></svg>'
WHOLE = page(
    "Fish & <chips>",
    heading(1, "Fish & <chips>"),
    Html(
        heading(2, "Of fish", "fish")
        + table(("Fish", "n"), [("cod", 3), ("ling & co", 4)], numeric=(1,), caption="In baskets.")
        + figure(SVG, "a fish", "A fish & its shadow.")
        + details("More", paragraph(Html('It is <a href="#fish">above</a>.')))
    ),
    paragraph("Caught today."),
)


def test_a_page_of_every_part_is_whole() -> None:
    assert problems(WHOLE) == []


@pytest.mark.parametrize(
    ("part", "instead", "said"),
    [
        ("</p>", "", "ends <p>"),
        ("</main>", "<section></main>", "ends <section>"),
        ("<h2", "<h3", "<h3> after <h1>"),
        ("<h1>", "<h2>", "not one title"),
        ('id="mark"', 'id="fish"', "id 'fish' is there 2 times"),
        ('href="#fish"', 'href="#bird"', "#bird is nowhere"),
        ('href="#fish"', 'href="https://example.org"', "is not in the page"),
        ("<h2", '<img src="data:image/png;base64,x"><h2', "a picture without words"),
        (' role="img" aria-label="a fish"', "", "a drawing without words"),
        (' viewBox="0 0 10 10"', "", "does not shrink"),
        ('<th scope="col">', "<th>", "scope None"),
        ('<th scope="row">cod</th>', "<td>cod</td>", "without a heading"),
        ('<td class="n">3</td>', "", "rows of [1, 2] cells"),
        ('<div class="wide"><table>', "<div><table>", "a narrow window cuts off"),
        ("<p>It", "<p><table></table>It", "<table> in a paragraph"),
        ("Caught today.", "", "<p> is empty"),
        ("Caught today.", "Caught & sold.", "a bare &"),
        ("Caught today.", "<script>alert()</script>", "<script>"),
        ('lang="en"', 'class="en"', "no language"),
        ('<meta charset="utf-8">', "", "no charset"),
        ('name="viewport"', 'name="view"', "a small screen"),
        ("@media print", "@media screen", "nothing on @media print"),
        ("break-inside: avoid", "", "nothing on figure"),
        ("<style>", "<style>@import 'x.css';", "the style is not in the page"),
    ],
)
def test_what_is_wrong_is_found(part: str, instead: str, said: str) -> None:
    assert part in WHOLE
    assert any(said in one for one in problems(WHOLE.replace(part, instead)))


def test_no_heading_and_no_words_above_a_figure_end_a_printed_page() -> None:
    """Of every level of headings that reports have: a figure goes to the next page with them."""
    printed = WHOLE[WHOLE.index("@media print") :]
    rule = re.search(r"([^{}]*)\{ break-after: avoid; \}", printed)
    assert rule is not None
    together = {part.strip() for part in rule[1].split(",")}
    source = "".join(path.read_text("utf-8") for path in Path(labapp.__file__).parent.rglob("*.py"))
    levels = {f"h{level}" for level in re.findall(r"\bheading\((\d)", source)} - {"h1"}
    assert {"h2", "h3", "h4"} <= levels
    assert {*levels, "p:has(+ figure)"} <= together
