"""Tables of names by example: what counts as consistent, what is grey, and what is said of it."""

from __future__ import annotations

import csv
import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from labapp.analysis.analyze import analyze
from labapp.base import resources
from labapp.base.errors import ExportExists, RatingError
from labapp.cli.main import app
from labapp.models.representations.effects import DialEffect
from labapp.record.events import Source
from labapp.tasks.reconstruction.report import contents
from labapp.tasks.reconstruction.report.contents import of_study
from labapp.tasks.reconstruction.report.labels import sheet
from labapp.tasks.reconstruction.report.labels.sheet import (
    HELP,
    LABEL_TABLES,
    NOTHING,
    PARTICIPANTS,
    SHEET,
    TEXT,
    DialEffects,
    LabelledModel,
    LabelResults,
    NameRatings,
    find,
    find_published,
    frames,
)
from tests.helpers.pages import problems
from tests.tasks.reconstruction_report.labels.cohort import (
    TC5,
    TC10,
    cohort,
    session,
    tables,
    write,
)
from tests.tasks.reconstruction_report.labels.sheets import filled, save

TC = "mnist8k/tc5"


def faint(*dials: int) -> sheet.Measure:
    """Effects in which these dials (from 1) do little."""

    def measured(model: LabelledModel) -> DialEffects:
        shares = [0.01 if dial.number in dials else 0.5 for dial in model.dials]
        return DialEffects(
            tuple(
                DialEffect(dial.own_name, share, 10 * share, share, share)
                for dial, share in zip(model.dials, shares, strict=True)
            )
        )

    return measured


def rated(found: LabelResults, *says: dict[str, bool]) -> LabelResults:
    """The same, rated: by rater what is said of each text, the others not consistent."""
    assert found.sheet is not None
    ratings = tuple(
        NameRatings(
            f"rater {at}",
            {line.name.id: said.get(line.name.text, False) for line in found.sheet.lines},
        )
        for at, said in enumerate(says, start=1)
    )
    return replace(found, ratings=ratings)


@pytest.fixture(scope="module")
def found() -> LabelResults:
    return find(tables(cohort({TC: TC5})), measured=faint(3))


def words(found: LabelResults, study: str = "names") -> str:
    """The section as it reads."""
    html = "".join(of_study(study, found))
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))).strip()


def test_a_dial_is_a_row_with_its_effect_its_coverage_and_its_names(found: LabelResults) -> None:
    rows = frames(found)["label_dials"]
    assert rows["dimension_title"].tolist() == [f"Continuous {n}" for n in range(1, 6)]
    assert rows["n_named"].tolist() == [4, 3, 3, 3, 3]
    assert rows["coverage"].tolist() == [0.8, 0.6, 0.6, 0.6, 0.6]
    assert rows["little_effect"].tolist() == [False, False, True, False, False]
    assert rows["n_consistent"].isna().all()
    assert rows["published_names"].tolist() == [4, 3, 3, 3, 3]
    said = words(found)
    assert re.search(r"Continuous 1 50 4, 80 % “\S", said)
    assert "Continuous 3 little effect 1 3, 60 %" in said


def test_the_papers_numbers_stand_beside_a_model_of_as_many_dials_alone(
    found: LabelResults,
) -> None:
    (model,) = found.models
    assert model.published is not None
    fewer = replace(model.published, names=model.published.names[:-1])
    for published in (None, fewer):
        other = replace(found, models=(replace(model, published=published),))
        assert frames(other)["label_dials"]["published_names"].isna().all()


def test_consistent_is_what_every_rater_says(found: LabelResults) -> None:
    both = rated(found, {"3-5-6": True, "3-5-blob": True, "6-7": True}, {"3-5-6": True})
    names = frames(both)["label_names"].set_index(["dimension", "text"])
    assert names.loc[(4, "3-5-6"), "consistent"]
    assert not names.loc[(4, "3-5-blob"), "consistent"]
    assert names.loc[(4, "3-5-blob"), "n_yes"] == 1
    assert names.loc[(4, "3-5-blob"), "ratings"] == "rater 1: yes; rater 2: no"
    dials = frames(both)["label_dials"]
    assert dials["n_consistent"].tolist() == [0, 0, 0, 1, 0]
    html = "".join(of_study("names", both))
    assert html.count('class="agreed"') == 1
    assert '<span class="agreed"><bdi>“3-5-6”</bdi></span> ✓' in html
    assert "“3-5-blob” (1 of 2 raters)" in re.sub(r"</?bdi>", "", html)


def test_grey_and_bold_are_said_in_words_too(found: LabelResults) -> None:
    html = "".join(of_study("names", rated(found, {"rotate": True}, {"rotate": True})))
    row = next(row for row in html.split("<tr") if "Continuous 3" in row)
    assert row.count("faint") == 4
    assert "little effect" in row
    assert "✓" in row


def test_one_rater_is_shown_as_one(found: LabelResults) -> None:
    said = words(rated(found, {"rotate": True}))
    assert "one rater (rater 1) calls consistent" in said
    assert "With one rater, agreement cannot be computed." in said
    assert frames(rated(found, {}))["label_agreement"].empty


def test_without_raters_nothing_is_bold(found: LabelResults) -> None:
    assert "Nobody has rated yet which names are consistent" in words(found)
    assert "✓" not in words(found)
    assert "agreed" not in "".join(of_study("names", found))


def test_names_from_right_to_left_and_marks_of_html_stand_for_themselves() -> None:
    made = [session("P01", {TC: {1: "<b>&amp;", 2: "שלום"}})]
    html = "".join(of_study("names", find(tables(made), measured=faint())))
    assert "<bdi>“&lt;b&gt;&amp;amp;”</bdi>" in html
    assert "<bdi>“שלום”</bdi>" in html


def test_models_of_one_size_share_a_table() -> None:
    made = cohort({"mnist8k/ae5": {1: ("791",)}, TC: TC5, "mnist8k/tc10": TC10})
    found = find(tables(made), measured=faint())
    said = words(found)
    assert re.search(
        r"Models with 5 sliders\. .*mnist8k/ae5.*mnist8k/tc5.*Models with 10 slid", said
    )
    # 1 of 5 participants named a dial of the AE, as the paper says of its own: 20 %.
    assert "mnist8k/ae5 1 of 5, 20 % 20 % 0 of 5 0 of 5 1 4" in said
    models = frames(found)["label_models"].set_index("model")
    assert models.loc["mnist8k/ae5", "named_any_share"] == 0.2
    assert models.loc["mnist8k/ae5", "published_named_any_share"] == 0.2
    assert models.loc[TC, "n_covered"] == models.loc[TC, "published_n_covered"] == 1
    assert models.loc["mnist8k/tc10", "n_covered"] == 3
    assert "not the paper's models" in said


def test_the_published_numbers_are_what_can_be_counted_in_the_paper() -> None:
    kinds = {
        name: find_published(f"mnist8k/{name}")
        for name in ("ae5", "tc5", "ss5", "ae10", "tc10", "ss10")
    }
    assert {name: len(one.names) for name, one in kinds.items() if one} == {
        "ae5": 5,
        "tc5": 5,
        "ss5": 6,
        "ae10": 10,
        "tc10": 10,
        "ss10": 11,
    }
    ss5, tc5 = kinds["ss5"], kinds["tc5"]
    assert ss5 is not None
    assert tc5 is not None
    assert ss5.covered == len(ss5.names)
    assert tc5.covered == 1
    assert all(n <= PARTICIPANTS for one in kinds.values() if one for n in one.names)
    assert "only 20% of users" in TEXT
    assert find_published("mnist8k/tc5").same_model is False
    assert find_published("mnist8k/vae5") is None
    assert find_published("mnist/tc5") is None, "nothing follows from an id"
    assert find_published("dsprites/ae") is None


def test_names_that_programs_gave_are_said_to_be_theirs() -> None:
    people = [session(f"P{n:02d}", {TC: {1: "thick"}}) for n in (1, 2)]
    program = session("P03", {TC: {1: "thickness"}}, source=Source.SIMULATED)
    assert "simulated" not in words(find(tables(people), measured=faint()))
    some = find(tables([*people, program]), measured=faint())
    assert some.models[0].programs == {"P03"}
    assert "1 of 3 participants here are simulated: programs, not people." in words(some)
    every = find(tables([program]), measured=faint())
    assert "All participants here are simulated" in words(every)
    assert "say nothing of people" in words(every)


def test_studies_are_apart() -> None:
    made = [
        *cohort({TC: TC5}),
        session("P01", {"mnist8k/ss5": {1: "digit"}}, study="other"),
        session("P02", {"mnist8k/ss5": {}}, study="third"),
    ]
    found = find(tables(made), measured=faint())
    assert "digit" in words(found, "other")
    assert "digit" not in words(found)
    assert words(found, "third") == ""


def test_without_names_every_table_is_empty_with_its_columns() -> None:
    for name, frame in frames(NOTHING).items():
        assert frame.empty
        assert list(frame.columns) == [column.name for column in LABEL_TABLES[name]]


def test_raters_of_nothing_are_told(tmp_path: Path) -> None:
    with pytest.raises(RatingError, match="no session that counts contains slider names"):
        find(tables([session("P01", {TC: {}})]), [tmp_path / "a.csv"])


def test_a_name_alone_is_not_counted_in_the_agreement(tmp_path: Path) -> None:
    made = cohort({TC: {1: ("thick", "wide"), 2: ("slant",)}})
    sheet = find(tables(made), measured=faint()).sheet
    assert sheet is not None
    paths = [save(tmp_path / f"{who}.csv", filled(sheet)) for who in "ab"]
    both = find(tables(made), paths, faint()).agreement
    assert both is not None
    assert (both.n, both.percent, both.kappa) == (2, 100, None)


def test_raters_with_nothing_to_compare_are_told(tmp_path: Path) -> None:
    made = cohort({TC: {1: ("thick",), 2: ("slant",)}})
    sheet = find(tables(made), measured=faint()).sheet
    assert sheet is not None
    paths = [save(tmp_path / f"{who}.csv", filled(sheet)) for who in "ab"]
    said = words(find(tables(made), paths, faint()))
    assert "raters have nothing to compare" in said


# Effects come from the model that was met, and from no other.


def test_the_effects_are_those_of_the_installed_model() -> None:
    (model,) = find(tables(cohort({"mnist8k/tc10": TC10})), measured=faint()).models
    found = sheet.measure(model)
    assert [d.title for d, e in zip(model.dials, found.of, strict=True) if e.little] == [
        "Continuous 3",
        "Continuous 5",
        "Continuous 7",
        "Continuous 10",
    ]
    assert found.why_not == ""


def test_of_another_model_under_the_same_id_nothing_is_grey(found: LabelResults) -> None:
    def of_cards(*cards: str, model: str = TC) -> DialEffects:
        return sheet.measure(replace(found.models[0], model=model, cards=frozenset(cards)))

    effects = of_cards("0" * 64)
    assert effects.of == ()
    assert "is different" in effects.why_not
    assert "hash was not recorded" in of_cards().why_not
    assert "several versions" in of_cards("0" * 64, "1" * 64).why_not
    assert "no model 'mnist8k/none'" in of_cards("0" * 64, model="mnist8k/none").why_not


def test_a_damaged_model_says_so(
    found: LabelResults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(resources.models() / TC, tmp_path / TC)
    (tmp_path / TC / "decoder.safetensors").write_bytes(b"broken")
    monkeypatch.setattr(resources, "model_roots", lambda: (tmp_path,))
    effects = sheet.measure(found.models[0])
    assert effects.of == ()
    assert "decoder.safetensors" in effects.why_not


def test_why_nothing_is_grey_is_said(found: LabelResults) -> None:
    found = replace(found, effects=(DialEffects(why_not="it is gone"),))
    said = words(found)
    assert "mnist8k/tc5: the effect of its sliders is not known here, so none is grey." in said
    assert "Reason: it is gone." in said
    assert "The threshold is ours" not in said
    assert frames(found)["label_dials"]["no_effect_because"].eq("it is gone").all()


# All of it, from sessions to files and back.


def test_from_sessions_to_raters_and_back(tmp_path: Path) -> None:
    folders = write(cohort({TC: TC5}), tmp_path / "data")
    first = analyze(folders, tmp_path / "first").parent
    text = (first / SHEET).read_text(encoding="utf-8-sig")
    header, *rows = csv.reader(text.splitlines())
    assert len(rows) == 16
    assert (first / HELP).read_text(encoding="utf-8").startswith("How to mark names")
    assert "“3-5-blob”" in (first / contents.PAGE).read_text(encoding="utf-8")
    same = {"'3-5-6", "'3-5-blob", "'6-7", "'7-6?"}
    paths = []
    for rater, changes in (("A", same), ("B", same - {"'7-6?"})):
        filled_in = [[*row[:-1], "yes" if row[6] in changes else "no"] for row in rows]
        paths.append(save(tmp_path / f"{rater}.csv", [header, *filled_in], ";"))
    report = analyze(folders, tmp_path / "second", ratings=paths)
    names = pd.read_csv(report.parent / "label_names.csv")
    assert set(names["text"][names["consistent"]]) == {"3-5-6", "3-5-blob", "6-7"}
    both = pd.read_csv(report.parent / "label_agreement.csv").iloc[0]
    assert (both["n_names"], both["percent"]) == (16, 93.75)
    assert both["kappa"] == pytest.approx((15 / 16 - 168 / 256) / (1 - 168 / 256))
    for one in (report, report.parent / contents.PAGE):
        assert not problems(one.read_text(encoding="utf-8"))
    page = unescape(re.sub(r"\s+", " ", report.read_text(encoding="utf-8")))
    assert "both raters (A, B) call consistent" in page
    assert "Cohen's kappa = 0.82" in page
    for ending in ("svg", "png"):
        assert (report.parent / "figures" / f"labels-names-5.{ending}").is_file()
    columns = pd.read_csv(report.parent / "columns.csv")
    assert set(LABEL_TABLES) < set(columns["table"])


def test_a_wrong_sheet_ends_the_analysis_before_anything_is_written(tmp_path: Path) -> None:
    folders = write(cohort({TC: TC5}, people=1), tmp_path / "data")
    (tmp_path / "a.csv").write_text("nothing")
    with pytest.raises(RatingError):
        analyze(folders, tmp_path / "out", ratings=[tmp_path / "a.csv"])
    assert not (tmp_path / "out").exists()


def test_a_sheet_that_is_being_rated_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / SHEET).write_text("half rated")
    with pytest.raises(ExportExists):
        analyze([tmp_path / "missing"], tmp_path)
    assert (tmp_path / SHEET).read_text() == "half rated"


def test_without_names_there_is_no_sheet(tmp_path: Path) -> None:
    assert contents.write(find(tables([session("P01", {TC: {}})])), tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_the_command_takes_a_file_a_rater(tmp_path: Path) -> None:
    folders = write(cohort({TC: {1: ("thick", "wide")}}, people=2), tmp_path / "data")
    wrong = tmp_path / "a.csv"
    wrong.write_text("sheet,label,name,consistent\nS-0,N001,“thick”,yes\n", encoding="utf-8")
    other = tmp_path / "b.csv"
    other.write_bytes(wrong.read_bytes())
    options = [option for path in (wrong, other) for option in ("--ratings", str(path))]
    told = CliRunner().invoke(
        app, ["analyze", *map(str, folders), "--out", str(tmp_path / "out"), *options]
    )
    assert isinstance(told.exception, RatingError)
    assert "line 2, column sheet: found S-0" in str(told.exception)
    assert not (tmp_path / "out").exists()
