"""The page with every figure of a report: its code, run as it is written, draws what it shows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from scripts import docs_figures
from tests.docs.test_code import BLOCK
from tests.recipes.conftest import command_of


def test_every_figure_of_the_page_has_its_picture() -> None:
    drawn = docs_figures.drawn_on(docs_figures.PAGE.read_text("utf-8"))
    assert all(drawn.values())
    files = {docs_figures.file_of(study, name) for study, each in drawn.items() for name, _ in each}
    assert files == {path.name for path in docs_figures.PICTURES.glob("figure-*.webp")}


def test_a_sentence_of_several_captions_is_shown_once() -> None:
    text = BLOCK.sub("", docs_figures.PAGE.read_text("utf-8"))
    shown = Counter(
        sentence
        for line in text.splitlines()
        if line and line[0] not in "#!" and line != docs_figures.SAME
        for sentence in docs_figures.sentences(line)
    )
    assert [sentence for sentence, count in shown.items() if count > 1] == []


@pytest.mark.parametrize("study", list(docs_figures.STUDIES))
def test_the_code_of_the_page_draws_its_figures(
    study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = docs_figures.PAGE.read_text("utf-8")
    command = docs_figures.command(study)
    part = page[page.index(f"```sh\n{command}") :].partition("\n## ")[0]
    command_of(tmp_path, monkeypatch, capsys)(command.split()[1:])
    names: dict[str, object] = {}
    for language, code in BLOCK.findall(part):
        if language == "python":
            exec(code, names)
    figures = docs_figures.one_of_each(names[docs_figures.variable(study)], study)
    shown = docs_figures.drawn_on(page)[study]
    assert [(name, figure.label) for name, figure in figures.items()] == shown
    saved = {path.stem for path in (tmp_path / f"figures-{study}").glob("*.pdf")}
    assert saved == {name for name, _ in shown}
