"""Tables for papers: as LaTeX and for a word processor, with the numbers of the analyses."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from docx import Document
from scipy import stats

from labapp.analysis import analyze
from labapp.analysis.declared import read_declaration
from labapp.analysis.design.analyses import VALUES, StudyAnalyses, analyse
from labapp.analysis.design.anova import CONTRAST, EQUIVALENCE, MEAN
from labapp.analysis.design.contents import REPORT, DefaultFindings
from labapp.analysis.design.further import BAYES, YUEN
from labapp.analysis.design.sections import (
    DOCX,
    TEX,
    _further,
    is_term,
    paper_tables,
    sections,
    short_share,
    term_tests,
    tex,
    write_docx,
)
from labapp.analysis.design.sections import find_tested_row as row_of
from labapp.analysis.design.sections import test_words as words_of_test
from labapp.analysis.design.summing_up import _outcome
from labapp.analysis.inference import adjust
from labapp.analysis.statistic import Statistic
from labapp.base import resources, translations
from labapp.base.report.listing import decimals_of, number_words, p_words
from labapp.base.report.page import Translation, decimal, join_parts, speaking
from tests.analysis.design.studies import study
from tests.analysis.design.test_analyses import DESIGN, OPPOSITE


@pytest.fixture(scope="module")
def results() -> StudyAnalyses:
    tables = study(DESIGN)
    return analyse(tables.included(), read_declaration(tables, "own"))


def test_there_are_values_tests_contrasts_and_equivalence(results: StudyAnalyses) -> None:
    titles = [table.title for table in paper_tables(results)]
    assert titles == [
        "completion_rate by hint and model",
        "response_time_s by hint and model",
        "Tests of effects (between hint; within model)",
        "Contrasts of estimated means",
        "Tests of equivalence",
    ]
    tests = next(t for t in paper_tables(results) if t.title.startswith("Tests of effects"))
    first = next(term_tests(results.analyses[0]))
    assert tests.rows[0][:3] == ("completion_rate", "hint", f"{first.statistic:.2f}")
    # No zero before the point of what cannot exceed 1, and p not below .001.
    assert all(re.fullmatch(r"< \.001|\.\d{3}|1\.000", row[5]) for row in tests.rows)


def test_the_word_processor_has_the_same_cells(results: StudyAnalyses, tmp_path: Path) -> None:
    path = tmp_path / DOCX
    write_docx([results], path)
    document = Document(str(path))
    made = list(paper_tables(results))
    assert len(document.tables) == len(made)
    for grid, table in zip(document.tables, made, strict=True):
        cells = [tuple(cell.text for cell in row.cells) for row in grid.rows]
        plain = [
            tuple(text.replace("*", "").replace("d_z", "dz") for text in row) for row in table.rows
        ]
        assert cells[1:] == plain
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert [text for text in texts if re.fullmatch(r"Table \d+", text)] == [
        f"Table {at}" for at in range(1, len(made) + 1)
    ]


def test_a_long_table_is_not_listed_for_each_of_its_cells(
    results: StudyAnalyses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("python-docx lists all cells of the table here: minutes for 3,000")

    monkeypatch.setattr("docx.table.Table._cells", property(refuse))
    write_docx([results], tmp_path / DOCX)


def test_the_sentences_have_the_numbers_of_the_tests(results: StudyAnalyses) -> None:
    page = html.unescape(str(join_parts(sections(results))))
    page = page[page.index("Results in sentences") :]
    for analysis in results.shown.analyses:
        for row in analysis.select(CONTRAST):
            assert f"{p_words(row.p_corrected or 0)} with" in page
            with decimals_of(analysis.decimals):
                ends = f"[{number_words(row.low or 0)}, {number_words(row.high or 0)}]"
            assert ends in page
            if not any(is_term(row, term) for term in term_tests(analysis)):
                assert f"({row.df:.0f}) = {decimal(row.statistic or 0, 2)}" in page
        for test in term_tests(analysis):
            assert f"η² = {short_share(test.effect)}, 90 % CI" in page
    clear = [
        row.contrast for a in results.analyses for row in a.select(CONTRAST) if row.significant
    ]
    assert page.count("was significant") == len(clear) == 1
    assert "was not shown" in page  # the test of equivalence


def test_latex_is_balanced_and_escaped(results: StudyAnalyses) -> None:
    text = tex([results])
    assert text.count("{") == text.count("}")
    assert text.count("\\begin{table}") == text.count("\\end{table}") == 5
    body = [line for line in text.splitlines() if not line.startswith("%")]
    assert not re.search(r"(?<!\\)[%#&](?! )", "\n".join(body).replace(" & ", " "))
    assert "completion\\_rate" in text
    for rows in re.findall(r"\\toprule\n(.*?)\\bottomrule", text, flags=re.DOTALL):
        counts = {line.count(" & ") for line in rows.splitlines() if line.endswith("\\\\")}
        assert len(counts) == 1


def test_they_are_in_the_language_of_the_report(results: StudyAnalyses, tmp_path: Path) -> None:
    path = resources.assets() / "texts" / "de" / analyze.FILE
    spoken = Translation("de", translations.load(path, "the report", ""))
    with speaking(spoken):
        made = list(paper_tables(results))
        text = tex([results])
        write_docx([results], tmp_path / DOCX)
    ours = {"*n*", "*M*", "*SD*", "*F*", "*df*_1", "*df*_2", "*p*", "*η*_G^2", "*t*", "*df*"}
    names = {"hint", *(analysis.outcome.name for analysis in results.analyses)}
    assert not spoken.missing - ours - names
    assert made[-1].title == "Äquivalenztests"
    assert made[0].title == "completion_rate nach hint und model"
    rows = [row for table in made for row in table.rows]
    assert any("first against the others (kleiner)" in row for row in rows)
    assert "\\textit{Anmerkung.}" in text
    assert "Note" not in text
    paragraphs = [paragraph.text for paragraph in Document(str(tmp_path / DOCX)).paragraphs]
    assert "Tabelle 1" in paragraphs
    assert not any(word.startswith(("Table ", "Note.")) for word in paragraphs)
    # What the study calls things stays, and numbers are as the language writes them.
    contrasts = next(table for table in made if table.heads[1] == "Kontrast")
    wanted = {each.name for each in results.analyses[0].comparisons}
    assert wanted <= {row[1].removesuffix(" (kleiner)") for row in contrasts.rows}
    assert all(
        "." not in cell for table in made for row in table.rows for cell in row[table.texts :]
    )


def test_without_an_analysis_there_are_no_files(tmp_path: Path) -> None:
    REPORT.write(DefaultFindings({}), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_files_are_those_that_it_names(results: StudyAnalyses, tmp_path: Path) -> None:
    REPORT.write(DefaultFindings({"own": results}), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(REPORT.files)
    assert TEX in REPORT.files


def test_a_row_is_one_test_and_every_table_has_the_same_ones() -> None:
    """Of each row p follows from its own t, df and direction, and the corrected p from the p of its
    own family; the page, the paper's tables and the table of statistics print the same tests."""
    tables = study(OPPOSITE)
    results = analyse(tables.included(), read_declaration(tables, "own"))
    tested = [row.row() for row in results.rows if row.kind in ("contrast", "equivalence")]
    assert len(tested) == 2 * 4  # each outcome: less, two-sided, equivalent, and the other contrast
    for row in tested:
        t, df = row["statistic"], row["df"]
        if row["direction"] == "equivalent":
            error, bound = row["standard_error"], row["bound"]
            sides = [
                stats.t.sf((row["difference"] + bound) / error, df),
                stats.t.cdf((row["difference"] - bound) / error, df),
            ]
            assert row["p"] == pytest.approx(max(sides))
            assert abs(t) == pytest.approx(abs(stats.t.isf(row["p"], df)))
        else:
            p = {"less": stats.t.cdf(t, df), "two-sided": 2 * stats.t.sf(abs(t), df)}
            assert row["p"] == pytest.approx(p[row["direction"]])
    for kind in ("contrast", "equivalence"):
        own = [row for row in tested if row["kind"] == kind]
        assert {row["n_tests"] for row in own} == {len(own)}
        assert len({row["family"] for row in own}) == 1
        assert [row["p_corrected"] for row in own] == pytest.approx(
            adjust([row["p"] for row in own], "holm")
        )
    assert len({row["family"] for row in tested}) == 2
    # What is supported is so by the test that the hypothesis names.
    for hypothesis in results.declaration.hypotheses:
        (row,) = (
            row for row in tested
            if (row["quantity"], row["contrast"], row["direction"])
            == (hypothesis.outcome, hypothesis.contrast, hypothesis.direction)
        )  # fmt: skip
        (analysis,) = (a for a in results.analyses if a.outcome.name == hypothesis.outcome)
        own, _ = row_of(analysis, hypothesis)
        assert own is not None
        assert own.row() == row
    paper = {
        (line[0].removesuffix(" (log s)"), float(cell("*t*")), cell("*p*"), cell("*p*_corr"))
        for made in paper_tables(results)
        if "*p*_corr" in made.heads
        for line in made.rows
        for cell in [lambda head, made=made, line=line: line[made.heads.index(head)]]
    }
    assert paper == {
        (row["quantity"], round(row["statistic"], 2), *(
            "< .001" if p < 0.001 else "> .999" if p == 1 else f"{p:.3f}".lstrip("0")
            for p in (row["p"], row["p_corrected"])
        ))
        for row in tested
    }  # fmt: skip
    page = str(join_parts(sections(results)))
    lines = [re.sub("<[^>]+>", " ", line) for line in re.findall("<tr>.*?</tr>", page, re.DOTALL)]
    for outcome, t, p, corrected in paper:
        signed = f"{t:.2f}".replace("-", "−")
        assert any(
            all(part in html.unescape(line) for part in (signed, p, corrected)) for line in lines
        ), (outcome, t, p, corrected)


def test_a_mean_is_in_the_outcomes_own_unit_or_says_in_which(results: StudyAnalyses) -> None:
    """Of logarithms of seconds: geometric means in s, all else in log s, in every table."""
    (analysis,) = (a for a in results.analyses if a.outcome.name == "response_time_s")
    geometric = [float(np.exp(cell.values.mean())) for cell in analysis.cells]
    own = [row for row in results.rows if row.quantity == "response_time_s"]
    units = {row.kind: row.unit for row in own if row.kind != "left out"}
    assert units.pop("back-transformed") == "s"
    assert set(units.values()) == {"log s"}
    (values,) = (t for t in paper_tables(results) if t.title.startswith("response_time_s by"))
    assert values.heads[-4:] == ("*n*", "*M*", "*SD*", "Back-transformed mean")
    assert values.note.endswith("Means and standard deviations are in log s.")
    assert [float(row[-1]) for row in values.rows] == pytest.approx(geometric, abs=0.005)
    (contrasts,) = (t for t in paper_tables(results) if t.title.startswith("Contrasts"))
    outcomes = {row[0] for row in contrasts.rows}
    assert outcomes == {"completion_rate", "response_time_s (log s)"}
    page = str(join_parts(sections(results)))
    assert "M and SD are in log s" in page
    assert "Differences are in log s" in page
    _, shown = _outcome(analysis)
    assert "Geometric means" in str(shown)
    assert all(f"{mean:.2f}" in str(shown) for mean in geometric)


def test_a_factor_of_two_levels_is_tested_in_one_sentence(results: StudyAnalyses) -> None:
    page = html.unescape(str(join_parts(sections(results))))
    page = page[page.index("Results in sentences") :]
    same = [
        (row, term, analysis.decimals)
        for analysis in results.shown.analyses
        for row in analysis.select(CONTRAST)
        for term in term_tests(analysis)
        if is_term(row, term)
    ]
    for row, term, decimals in same:
        assert (row.statistic or 0) ** 2 == pytest.approx(term.statistic)
        with decimals_of(decimals):
            difference = number_words(row.difference or 0)
        assert f"; contrast “{row.contrast}”, difference {difference}" in page
    others = [row for a in results.analyses for row in a.select(CONTRAST)]
    assert 0 < len(same) < len(others)
    assert page.count("The contrast “") >= len(others) - len(same)


def test_one_test_alone_is_not_said_to_be_corrected() -> None:
    contrasts = DESIGN["analysis"]["contrasts"][:1]
    plan = {"outcomes": {"primary": ["completion_rate"]}, "contrasts": contrasts}
    tables = study(DESIGN | {"analysis": plan})
    made = analyse(tables.included(), read_declaration(tables, "own"))
    page = html.unescape(str(join_parts(sections(made))))
    assert "p corrected" not in page
    assert "with Holm" not in page


def test_an_outcome_has_one_number_of_decimals_and_a_share_is_in_percent(
    results: StudyAnalyses,
) -> None:
    share = next(each for each in results.analyses if each.outcome.unit == "0-1").shown
    assert (share.outcome.unit, share.decimals) == ("%", 2)
    raw = next(each for each in results.analyses if each.number == share.number)
    for mine, own in zip(share.rows, raw.rows, strict=True):
        assert (mine.statistic, mine.p, mine.effect) == (own.statistic, own.p, own.effect)
        if own.kind in (VALUES, MEAN, CONTRAST, EQUIVALENCE) and own.low is not None:
            assert mine.low == pytest.approx(100 * own.low)
    for sd, decimals in ((4321.0, 0), (432.1, 1), (43.21, 2), (0.4321, 2), (0.04321, 3)):
        rows = [replace(row, sd=sd) if row.kind == VALUES else row for row in raw.rows]
        assert replace(raw, rows=tuple(rows)).decimals == decimals
    with decimals_of(2):
        assert (number_words(0.12345), number_words(1234.5)) == ("0.12", "1,234.50")
    assert number_words(0.12345) == "0.123", "without an outcome"


def test_further_tests_and_checks_have_the_names_that_papers_use(results: StudyAnalyses) -> None:
    row = Statistic(test=BAYES, statistic=0.25, contrast="a")
    page = html.unescape(str(_further([row, Statistic(test=YUEN, statistic=2.0, p=0.04)])))
    assert "BF01" in page
    assert "4.00" in page
    assert "Yuen's test" in page
    assert (
        words_of_test(Statistic(test="Shapiro-Wilk W", statistic=0.9, p=0.2))
        == "W = 0.90, p = .200"
    )
    assert words_of_test(Statistic(test="Mauchly's W", statistic=0.9, df=2.0, p=0.2)) == (
        "W = 0.90, p = .200"
    )
