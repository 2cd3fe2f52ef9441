"""Tables for papers: as LaTeX and for a word processor, with the numbers of the analyses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docx import Document

from labapp import resources, translations
from labapp.analysis import language
from labapp.analysis.declared import declared_of
from labapp.analysis.design.analyses import StudyAnalyses, analyse
from labapp.analysis.design.apa import DOCX, TEX, paper_tables, tex, write_docx
from labapp.analysis.design.contents import REPORT, DefaultFindings
from labapp.report.language import Translation, speaking
from tests.analysis.design.studies import study
from tests.analysis.design.test_analyses import DESIGN


@pytest.fixture(scope="module")
def results() -> StudyAnalyses:
    tables = study(DESIGN)
    return analyse(tables.included(), declared_of(tables, "own"))


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
    line = results.analyses[0].main.lines[0]
    assert tests.rows[0][:3] == ("completion_rate", "hint", f"{line.test.statistic:.2f}")
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
    path = resources.assets() / "texts" / "de" / language.FILE
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
    assert any("first against the others (kleiner)" in table.note for table in made)
    assert "\\textit{Anmerkung.}" in text
    assert "Note" not in text
    paragraphs = [paragraph.text for paragraph in Document(str(tmp_path / DOCX)).paragraphs]
    assert "Tabelle 1" in paragraphs
    assert not any(word.startswith(("Table ", "Note.")) for word in paragraphs)
    # What the study calls things stays, and numbers are as the language writes them.
    contrasts = next(table for table in made if table.heads[1] == "Kontrast")
    wanted = {each.comparison.name for each in results.analyses[0].compared}
    assert wanted <= {row[1] for row in contrasts.rows}
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
