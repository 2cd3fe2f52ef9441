"""Pages and sentences of a report, in other languages and with text from outside."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import labapp
from labapp.analysis import Tables, load
from labapp.analysis.analyze import report
from labapp.analysis.snapshots import get_attached
from labapp.analysis.statistic import Statistic
from labapp.analysis.task_report import Findings
from labapp.base import resources, translations
from labapp.base.errors import SetupError
from labapp.base.figure_style import STYLE
from labapp.base.report import kit
from labapp.base.report.listing import FILE, catalogue, check, p_cell, p_words, sentence
from labapp.base.report.page import (
    ENGLISH,
    Html,
    Translation,
    Verbatim,
    current_language,
    definitions,
    details,
    figure,
    format_revised_text,
    heading,
    links,
    navigation,
    page,
    paragraph,
    say,
    speaking,
    stack_lines,
    strong,
    table,
    two_lines,
)
from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.cohort import cohort
from tests.helpers.journals import golden_session
from tests.helpers.pages import problems
from tests.tasks.reconstruction_report.labels import cohort as labels

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


NUMBERS = st.floats(-1e4, 1e4).filter(lambda value: abs(value) > 1e-3)

LANGUAGES = (ENGLISH, "de")


def spoken_sentences(language: str, templates: dict[str, str] | None = None) -> Translation | None:
    if language == ENGLISH:
        return None
    return Translation(language, {".": ",", ",": "."}, templates or {})


def test_every_language_has_every_sentence_with_the_same_values() -> None:
    for language in LANGUAGES:
        assert catalogue(language).keys() == catalogue(ENGLISH).keys()
        check(catalogue(language), "")
    assert catalogue("fr") == {}


def test_no_id_of_a_sentence_is_a_word_of_the_report() -> None:
    """A table of words may have ids, too: the word would be taken as the sentence."""
    words = translations.load(resources.assets() / "texts/de/report.yaml", "the report", "", ())
    assert words.keys() & catalogue(ENGLISH).keys() == set()


def rounded(text: str) -> Iterator[float]:
    for number in re.findall(r"[−-]?\d[\d,]*(?:\.\d+)?|[−-]?\.\d+", text):
        yield float(number.replace(",", "").replace("−", "-"))


@given(
    values=st.lists(NUMBERS, min_size=7, max_size=7),
    p=st.lists(st.floats(0.001, 1), min_size=2, max_size=2),
)
def test_every_number_of_a_sentence_is_of_its_row(values: list[float], p: list[float]) -> None:
    """Of two and one side, and of equivalence; no row has the numbers of another."""
    names = ("statistic", "df", "difference", "standard_error", "low", "high", "bound")
    row = Statistic(test="t", contrast="a less b", direction="two-sided", p=p[0], p_corrected=p[1])
    cells: dict[str, Any] = {
        name: abs(value) if name in ("df", "bound") else value
        for name, value in zip(names, values, strict=True)
    }
    row = replace(row, **cells)
    own = [getattr(row, each.name) for each in fields(Statistic)]
    known = [abs(value) for value in own if isinstance(value, float)]
    for name in ("design.contrast", "design.hypothesis", "design.equivalence"):
        test = sentence("design.test", letter="t", test=row)
        text = sentence(name, row=row, test=test, unit="")
        assert isinstance(text, Verbatim)
        numbers = list(rounded(re.sub(r"9[05] %", "", text)))
        assert len(numbers) >= 4
        for number in numbers:
            assert any(abs(abs(number) - value) <= 0.51 * 10 ** -_digits(value) for value in known)


def _digits(value: float) -> int:
    """Decimals with which the greatest of these are written at least."""
    return 0 if value >= 1000 else 1 if value >= 100 else 2


def test_numbers_are_written_as_the_language_writes_them() -> None:
    row = Statistic(test="F", statistic=1234.5, df=2, df_2=10.25, p=0.0423)
    assert sentence("design.test", letter="F", test=row) == "F(2, 10.25) = 1,234, p = .042"
    with speaking(spoken_sentences("de")):
        assert sentence("design.test", letter="F", test=row) == "F(2; 10,25) = 1.234, p = ,042"


def test_a_language_without_a_sentence_has_it_in_english_and_says_so() -> None:
    row = Statistic(test="F", statistic=2.5, df=2, df_2=10, p=0.5)
    french = Translation("fr", {".": ",", ",": " "})
    with speaking(french):
        assert sentence("design.test", letter="F", test=row) == "F(2, 10) = 2,50, p = ,500"
    assert french.missing == {"design.test"}
    own = {"design.test": "{{ letter }} vaut {{ test.statistic|decimal(1) }}"}
    check(own, "")
    with speaking(Translation("fr", {".": ",", ",": " "}, own)):
        assert sentence("design.test", letter="F", test=row) == "F vaut 2,5"


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{{ tests }}", "no value called tests"),
        ("{% if %}", "line 1"),
        ("{{ letter|shout }}", "No filter named 'shout'"),
    ],
)
def test_a_template_of_ones_own_is_checked(template: str, told: str) -> None:
    with pytest.raises(SetupError, match=told):
        check({"design.test": template}, "Correct it.")


@pytest.mark.parametrize("reached", ["test.nothing", "test.p|df|df", "test.__class__.__mro__"])
def test_a_template_of_ones_own_reaches_its_row_and_no_program(reached: str) -> None:
    own = {"design.test": f"{{{{ {reached} }}}} {{{{ letter }}}}"}
    check(own, "")
    with speaking(spoken_sentences("de", own)), pytest.raises(SetupError, match=r"'design\.test'"):
        sentence("design.test", letter="F", test=Statistic(p=0.5))


def test_the_catalogues_lie_beside_the_texts_of_their_languages() -> None:
    texts = resources.assets() / "texts"
    assert sorted(path.parent.name for path in texts.glob(f"*/{FILE}")) == sorted(LANGUAGES)


WORDS = {
    ".": ",",
    ",": ".",
    "Mean": "Mittel",
    "none": "keine",
    "{a:n} sessions": "{a} Sitzungen",
    "{a} of {b}, written {c:x}.": "{a} von {b}, geschrieben {c}.",
    "median {a:n}, n = {b:n}": "Median {a}, n = {b}",
    "Study {a:x}": "Studie {a}",
    "First thing. Second thing of {a:n}.": "Erstes. Zweites von {a}.",
}


@pytest.fixture
def german() -> Translation:
    return Translation("de", WORDS)


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("Mean", "Mittel"),
        ("mean", "mean"),
        ("12 sessions", "12 Sitzungen"),
        ("twelve sessions", "twelve sessions"),
        ("1,234.5", "1.234,5"),
        ("30.5 % [22.5, 1,139.2]", "30,5 % [22,5; 1.139,2]"),
        ("0.54 ± 1.2", "0,54 ± 1,2"),
        ("median 3.25, n = 1,200", "Median 3,25, n = 1.200"),
        (
            "3 sessions of none, written 2026-01-02.",
            "3 Sitzungen von keine, geschrieben 2026-01-02.",
        ),
        ("Study Mean", "Studie Mean"),
        ("Second thing of 1.5.", "Zweites von 1,5."),
        ("Unknown words. First thing.", "Unknown words. Erstes."),
        ("12:05", "12:05"),
        ("2026-01-02", "2026-01-02"),
        ("labapp 0.1.0", "labapp 0.1.0"),
    ],
)
def test_a_text_is_translated_as_far_as_an_entry_fits(
    german: Translation, english: str, said: str
) -> None:
    assert german.say(english) == said


def test_a_line_break_in_a_label_is_no_other_text(german: Translation) -> None:
    assert german.say("First\nthing.") == "Erstes."
    assert german.say("dsprites/gt\nn = 3") == "dsprites/gt\nn = 3"


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    Translation("de", WORDS).say(text)


@given(st.text())
def test_what_people_wrote_is_never_changed(text: str) -> None:
    with speaking(Translation("de", WORDS)):
        assert say(Verbatim(text)) == text


def test_a_page_speaks_it_and_keeps_what_people_wrote(german: Translation) -> None:
    with speaking(german):
        assert current_language() == "de"
        shown = table(("Mean", "x"), [(Verbatim("none"), "none"), ("2 sessions", 1.5)])
        assert ">Mittel<" in shown
        assert ">none<" in shown
        assert ">keine<" in shown
        assert ">2 Sitzungen<" in shown
        assert ">1,5<" in shown
    assert "Mean" in paragraph("Mean"), "English again"
    assert current_language() == "en"


def test_what_a_browser_reads_is_not_translated() -> None:
    with speaking(Translation("de", {"note": "Notiz", "who": "wer"})):
        shown = paragraph("note", "note") + heading(2, "who", "who") + links([("who", "who")])
    assert '<p class="note">Notiz</p>' in shown
    assert '<h2 id="who">wer</h2>' in shown
    assert '<a href="#who">wer</a>' in shown


ROOT = Path(__file__).resolve().parents[3]

HOSTILE = "<script>x</script><b onclick='y'>&lt;$\\frac{$"

OURS = frozenset(
    (
        *("study", "session", "stage", "task", "tasks", "role", "kind", "outcome", "presentation"),
        *("started_utc", "assignment", "regime", "fill", "sign", "mark", "shown_by", "timed_by"),
        *("response", "of", "source", "truth", "prediction", "classes"),
    )
)

"""Columns whose words are labapp's own, by which the report goes, or are held to a pattern."""


def hostile(tables: Tables) -> Tables:
    """With such text behind every text that somebody else wrote."""

    def frame(rows: pd.DataFrame) -> pd.DataFrame:
        texts = [name for name in rows if isinstance(rows[name].dtype, pd.StringDtype)]
        return rows.assign(**{name: rows[name] + HOSTILE for name in texts if name not in OURS})

    frames = {name: frame(rows) for name, rows in tables.small().items()}
    snapshots = get_attached(tables)
    if not isinstance(snapshots, pd.DataFrame):
        snapshots = snapshots.frame()
    return Tables.of(frames, frame(snapshots), (HOSTILE,))


class Reader(HTMLParser):
    """The tags of a page, its attributes' names, and its text."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.words += data


MAKERS: dict[str, Callable[[Path], Tables]] = {
    "reconstruction": lambda folder: load(golden_session(folder)),
    "names": lambda folder: labels.tables(labels.cohort({"mnist8k/ss5": {1: "slant"}}, 3)),
    "judging": lambda folder: cohort(3),
    "unmasking": lambda folder: load(
        simulate_study("unmasking-faces", 2, "random", folder / "data")
    ),
}


@pytest.mark.parametrize("task", MAKERS)
def test_what_others_wrote_is_text_in_the_whole_report(task: str, tmp_path: Path) -> None:
    tables = hostile(MAKERS[task](tmp_path))
    findings = Findings.find(tables.included())
    source = report(tables, findings=findings)
    read = Reader(source)
    assert not read.tags & {"script", "b", "i"}
    assert "onclick" not in read.attributes
    assert read.words.count(HOSTILE) > 10
    assert problems(source) == []
    for each, results in findings.of.items():
        for plate in each.plates(findings.counted, results):
            assert not Reader(plate.svg).tags & {"script", "b", "i"}


def test_every_part_of_a_page_takes_text_for_text() -> None:
    svg = '<svg viewBox="0 0 1 1"></svg>'
    parts = [
        heading(1, HOSTILE, HOSTILE),
        paragraph(HOSTILE, "quiet"),
        table(
            [HOSTILE, two_lines(HOSTILE, HOSTILE)], [[HOSTILE, strong(HOSTILE)]], caption=HOSTILE
        ),
        figure(svg, HOSTILE, HOSTILE),
        details(HOSTILE, stack_lines([HOSTILE], [HOSTILE])),
        paragraph(format_revised_text(HOSTILE, HOSTILE, taken_back=True)),
        definitions([(HOSTILE, HOSTILE)]),
        links([(HOSTILE, HOSTILE)]),
        navigation([(HOSTILE, HOSTILE)]),
    ]
    for part in parts:
        read = Reader(part)
        assert not read.tags & {"script", "b", "i"}, part
        assert "onclick" not in read.attributes, part
        assert HOSTILE in read.words, part
    whole = Reader(page(HOSTILE, parts[0], parts[1], parts[2]))
    assert HOSTILE in whole.words
    assert "script" not in whole.tags


def test_no_formula_is_read_in_a_figure() -> None:
    assert STYLE["text.parse_math"] is False
    measured = kit.StripPanel(HOSTILE, HOSTILE, kit.np.ones((2, 1)))
    drawing = kit.strip_panels([measured], [HOSTILE], "x", HOSTILE, 1)
    assert HOSTILE in Reader(drawing.svg).words


def test_only_the_kit_says_what_is_html_already() -> None:
    """So whatever comes from outside is escaped by it, in all tasks, profiles, plans and scores."""
    allowed = {"labapp/base/report/page.py"}
    for path in (ROOT / "labapp").rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        assert name in allowed or not re.search(r"(?<!class )\bHtml\(", path.read_text()), name
    for path in (ROOT / "labapp").rglob("templates/*.html"):
        assert not re.search(r"autoescape|\|\s*safe(?!d)", path.read_text()), path


@pytest.mark.parametrize(
    ("p", "words"),
    [(0.0004, "p < .001"), (0.25, "p = .250"), (0.9994, "p = .999"), (1.0, "p > .999")],
)
def test_p_is_written_as_in_papers(p: float, words: str) -> None:
    assert p_words(p) == words
    assert p_cell(p) == words.removeprefix("p ").removeprefix("= ")
