"""What is shipped of the paper's numbers, against its text and against itself."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from labapp.analysis import Tables
from labapp.analysis.columns import Metric
from labapp.base import resources
from labapp.models.representations.card import UNKNOWN, dataset_of
from labapp.papers.interactive_reconstruction import results as paper
from labapp.papers.interactive_reconstruction.profile import findings
from labapp.papers.interactive_reconstruction.results import (
    EXEMPLARS,
    RECONSTRUCTION,
    SCORE_METRICS,
    TRAVERSALS,
    Printed,
    StudyGroup,
    in_order,
    not_published,
    published_name,
    rows,
)
from labapp.papers.interactive_reconstruction.sections import about_models
from labapp.tasks.reconstruction.report.contents import METRICS
from labapp.tasks.single_dimension.report import SINGLE_METRICS

SYNTHETIC = ("ae", "vae", "gt")
MNIST = ("ae5", "vae5", "ig5", "tc5", "ss5", "ae10", "ss10")
BY_COLUMN: dict[str, Metric] = {
    metric.column: metric for metric in (*METRICS, *SINGLE_METRICS, *SCORE_METRICS)
}


def group(study: str, task: str, models: tuple[str, ...]) -> StudyGroup:
    empty = pd.DataFrame({"participant": pd.Series(dtype=str)})
    return StudyGroup(study, task, "", models, study != "mnist-crowd", empty, empty, repeats=study)


DSPRITES = group("synthetic-crowd", RECONSTRUCTION, tuple(f"dsprites/{m}" for m in SYNTHETIC))
CROWD = group("mnist-crowd", RECONSTRUCTION, tuple(f"mnist8k/{m}" for m in MNIST))


def of(source: str, **wanted: object) -> list[Printed]:
    named = (row for row in rows() if row.source == source)
    return [row for row in named if all(getattr(row, k) == v for k, v in wanted.items())]


def one(source: str, **wanted: object) -> Printed:
    (found,) = of(source, **wanted)
    return found


def test_every_cell_of_the_tables_is_there() -> None:
    """Table 2: 14 models, 6 columns. Table A.3: 6 tables of 6 rows, 3 means, 1 + 3 p."""
    assert len(of("Table 2")) == 14 * 6
    cells = Counter((row.task, row.dataset, row.measure) for row in of("Table A.3"))
    assert cells == {
        (task, dataset, measure): n
        for task in (RECONSTRUCTION, EXEMPLARS, TRAVERSALS)
        for dataset in ("dsprites", "sinelines")
        for measure, n in (("mean", 18), ("p", 24))
    }
    assert len({(r.task, r.dataset, r.quantity) for r in of("Table A.3")}) == 36
    empty = [row for row in rows() if row.value is None]
    assert {row.source for row in empty} == {"Table 2", "Table A.3"}
    assert all(row.note for row in empty)
    assert Counter(row.source for row in empty) == {"Table A.3": 11, "Table 2": 20}


def test_every_test_of_section_6_is_there() -> None:
    """6.1.1: six F, two t; 6.1.3: two F; 6.2.1: three F, four t; 6.2.2: two t."""
    counted = Counter((row.source, row.measure) for row in rows() if row.measure in ("F", "t"))
    assert counted == {
        ("6.1.1", "F"): 6,
        ("6.1.1", "t"): 2,
        ("6.1.3", "F"): 2,
        ("6.2.1", "F"): 3,
        ("6.2.1", "t"): 4,
        ("6.2.2", "t"): 2,
    }
    medians = {row.model: row.note or row.printed for row in of("6.2.1", measure="median")}
    assert len(of("6.2.1", measure="median")) == 6
    assert medians == {"tc5": "10.5", "ae5": "3/7", "ae10": "1/7", "ss5": "5/7", "ss10": "6/7"}
    assert one("6", quantity="tests").value == 435
    assert one("6", quantity="threshold").value == pytest.approx(0.05 / 435, rel=0.05)


@pytest.mark.parametrize(
    ("source", "task", "dataset", "model", "quantity", "printed", "sd"),
    [
        ("Table 2", RECONSTRUCTION, "dsprites", "vae", "error_auc_sum", "60.1", "26.6"),
        ("Table 2", "", "sinelines", "vae", "mig", "0.15", ""),
        ("Table 2", "", "mnist", "tc10", "mse", "24.9", ""),
        ("Table 2", RECONSTRUCTION, "mnist", "ig5", "seq", "5.67", "1.30"),
        ("Table A.3", RECONSTRUCTION, "dsprites", "gt", "slide_distance", "6.24", "2.28"),
        ("Table A.3", RECONSTRUCTION, "sinelines", "ae", "error_auc_sum", "163.5", "90.0"),
        ("Table A.3", EXEMPLARS, "dsprites", "vae", "confidence", "4.12", "0.48"),
        ("Table A.3", EXEMPLARS, "sinelines", "ae", "correctness_rate", "0.81", "0.15"),
        ("Table A.3", TRAVERSALS, "dsprites", "gt", "response_time_s", "17.2", "12.9"),
        ("Table A.3", TRAVERSALS, "sinelines", "gt", "seq", "5.00", "1.15"),
        ("6.2.2", RECONSTRUCTION, "mnist", "ss10", "understood_dimensions", "2.4", "0.5"),
    ],
)
def test_cells_as_printed(
    source: str, task: str, dataset: str, model: str, quantity: str, printed: str, sd: str
) -> None:
    wanted = {"task": task, "dataset": dataset, "model": model, "quantity": quantity}
    (row,) = (row for row in of(source, **wanted) if row.measure in ("mean", "value"))
    assert (row.printed, row.printed_sd) == (printed, sd)


def test_table_2_repeats_table_a3() -> None:
    """The same means and deviations, cell by cell."""
    for row in of("Table 2", study="synthetic-crowd"):
        wanted = {"dataset": row.dataset, "model": row.model, "quantity": row.quantity}
        other = one("Table A.3", task=RECONSTRUCTION, measure="mean", **wanted)
        assert (row.printed, row.printed_sd, row.unit) == (
            other.printed,
            other.printed_sd,
            other.unit,
        )


def test_the_text_repeats_the_tables_but_for_what_is_noted() -> None:
    for row in rows():
        if row.measure != "mean" or not row.source.startswith("6.") or row.source == "6.2.2":
            continue
        wanted = {"dataset": row.dataset, "model": row.model, "quantity": row.quantity}
        source = "Table 2" if row.dataset == "mnist" else "Table A.3"
        table = one(source, task=row.task, measure="mean", **wanted)
        digits = len(row.printed.partition(".")[2])
        assert table.value is not None
        assert row.value is not None
        # Of .5 either neighbour is printed.
        near = abs(table.value - row.value) <= 0.5 * 10**-digits + 1e-9
        spread = row.sd is None or abs((table.sd or 0) - row.sd) <= 0.05 + 1e-9
        said = "have" in row.note or "has" in row.note
        assert (near and spread) or said, row


def test_p_follows_from_f_and_t() -> None:
    """F and t are rounded: p is that of a number that is rounded like them."""
    for row in rows():
        if row.measure not in ("F", "t") or row.df is None or row.value is None:
            continue
        wanted = {"task": row.task, "dataset": row.dataset, "quantity": row.quantity}
        names = {"model": row.model, "compared_with": row.compared_with}
        printed = one(row.source, study=row.study, measure="p", **wanted, **names)
        half = 0.05 if "." in row.printed else 0.5
        least, most = abs(row.value) - half, abs(row.value) + half
        if row.measure == "F":
            assert row.df_2 is not None
            high, low = (float(stats.f.sf(one, row.df, row.df_2)) for one in (least, most))
        else:
            high, low = (float(2 * stats.t.sf(one, row.df)) for one in (least, most))
        assert printed.value is not None
        if printed.relation == "<":
            assert low < printed.value
        else:
            digits = f"{printed.value:.0e}"
            assert low * 0.9 <= printed.value <= high * 1.1 or f"{low:.0e}" == digits, row


def test_the_f_of_two_metrics_are_told_to_be_exchanged() -> None:
    """6.1.1 has F = 32.3 of the difficulty and 31.6 of the error; Table A.3's p of the difficulty
    is what 31.6 gives, and its p of the error is of neither."""
    wanted = {"task": RECONSTRUCTION, "dataset": "dsprites", "measure": "p", "model": ""}
    seq = one("Table A.3", quantity="seq", **wanted)
    error = one("Table A.3", quantity="error_auc_sum", **wanted)
    assert seq.printed == f"{stats.f.sf(31.6, 2, 28):.0e}"
    assert seq.printed != f"{stats.f.sf(32.3, 2, 28):.0e}"
    assert error.printed != f"{stats.f.sf(31.6, 2, 28):.0e}"
    assert "31.6" in seq.note
    assert "31.6" in error.note


def test_values_are_shown_in_the_units_of_the_report() -> None:
    completion, error = BY_COLUMN["completion_rate"], BY_COLUMN["error_auc_sum"]
    slide = BY_COLUMN["slide_distance"]
    shown = [paper.mean(DSPRITES, "dsprites/ae", one) for one in (completion, error, slide)]
    assert [one and one.spread for one in shown] == [
        "15 ± 19",
        "55,800 ± 25,600",
        "13.6 ± 10.1",
    ]
    median = paper.median(CROWD, "mnist8k/tc5", error)
    assert median is not None
    assert median.spread == "10,500"


def test_tests_are_found_whichever_model_stands_first() -> None:
    completion = BY_COLUMN["completion_rate"]
    turned = paper.pair(DSPRITES, "dsprites/ae", "dsprites/gt", completion)
    assert [row.said for row in turned] == ["t(14) = −8.5", "p = 6e-07"]
    as_printed = paper.pair(DSPRITES, "dsprites/gt", "dsprites/ae", completion)
    assert [row.said for row in as_printed] == ["t(14) = 8.5", "p = 6e-07"]
    error = BY_COLUMN["error_auc_sum"]
    assert [row.said for row in paper.omnibus(DSPRITES, error)] == ["F(2, 28) = 31.6", "p = 5e-06"]
    assert [row.said for row in paper.omnibus(CROWD, error)] == ["F(6, 98) = 11.4", "p < 0.0001"]
    assert all(row.note for row in paper.omnibus(DSPRITES, error))


def test_only_a_like_study_has_published_values() -> None:
    completion = BY_COLUMN["completion_rate"]
    assert paper.has(DSPRITES)
    for other in (
        replace(DSPRITES, repeats=""),
        replace(DSPRITES, task="calibration"),
        replace(DSPRITES, models=("circles/gt",)),
    ):
        assert not paper.has(other)
        assert paper.mean(other, other.models[0], completion) is None
        assert paper.omnibus(other, completion) == ()
    fewer = replace(DSPRITES, models=DSPRITES.models[:2])
    assert paper.omnibus(fewer, completion) == (), "their F is over three models"
    assert paper.pair(fewer, *fewer.models, completion), "of a pair it is the same"


def test_facts_about_models_are_table_2() -> None:
    assert paper.model_fact("mnist", "mnist8k/ss10", "mse") == one(
        "Table 2", model="ss10", quantity="mse"
    )
    assert paper.model_fact("circles", "circles/gt", "mse") is None


def test_a_copy_of_a_model_under_another_id_is_taken_for_what_its_card_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = resources.models() / "mnist8k" / "ss5"
    copy = tmp_path / "of-a-lab" / "our-favourite"
    shutil.copytree(shipped, copy)
    said = (copy / "model.yaml").read_text("utf-8")
    (copy / "model.yaml").write_text(said.replace("mnist8k/ss5", "of-a-lab/our-favourite"), "utf-8")
    monkeypatch.setattr(resources, "user_models", lambda: tmp_path)
    model = "of-a-lab/our-favourite"
    assert (published_name(model), dataset_of(model)) == ("ss5", "mnist")
    assert not_published(model) == not_published("mnist8k/ss5") != ""
    assert (published_name("mnist8k/none"), dataset_of("mnist8k/none")) == ("", UNKNOWN)
    lines = (copy / "model.yaml").read_text("utf-8").split("\n")
    at = lines.index("published:")
    mine = tmp_path / "mnist8k" / "ae6"
    shutil.copytree(copy, mine)
    text = "\n".join(lines[:at] + lines[at + 3 :]).replace(model, "mnist8k/ae6")
    (mine / "model.yaml").write_text(text, "utf-8")
    assert (published_name("mnist8k/ae6"), dataset_of("mnist8k/ae6")) == ("", "mnist")
    assert list(about_models(["mnist8k/ae6"])) == [], "an own model is none of theirs"
    assert "8,000 digits" in "".join(about_models([model]))


def test_models_are_named_and_ordered_as_in_the_paper() -> None:
    names = {
        "mnist8k/ss5": "ss5",
        "dsprites/gt": "gt",
        "dsprites/ae-full": "",
        "own/Something_2": "",
    }
    assert {model: published_name(model) for model in names} == names
    mixed = ["mnist8k/ss10", "x/b", "mnist8k/tc5", "mnist8k/vae5", "mnist8k/ae10", "x/a"]
    assert in_order([*mixed, "mnist8k/ae5"]) == (
        "mnist8k/ae5",
        "mnist8k/vae5",
        "mnist8k/tc5",
        "mnist8k/ae10",
        "mnist8k/ss10",
        "x/a",
        "x/b",
    )


def test_a_copy_of_study_and_models_under_other_ids_has_the_same_report(
    simulated: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same tests, values and numbers of the paper: only the ids differ."""
    theirs = of_a_published_study(simulated)
    ids = {"small-within": "lab-copy", "sinelines/ae": "a-lab/b", "sinelines/vae": "a-lab/c"}
    ids["sinelines/gt"] = "other-lab/a"
    for model, other in ids.items():
        if model.startswith("sinelines/"):
            shutil.copytree(resources.models() / model, tmp_path / other)
            card = tmp_path / other / "model.yaml"
            card.write_text(card.read_text("utf-8").replace(f"id: {model}", f"id: {other}"))
    monkeypatch.setattr(resources, "user_models", lambda: tmp_path)
    copied = {name: frame.replace(ids) for name, frame in theirs.by_name().items()}
    rows_of = [
        [row.row() for result in findings(known) for row in result.rows]
        for known in (theirs, Tables.of(copied, copied["snapshots"]))
    ]
    wanted = pd.DataFrame(rows_of[0]).replace(ids)
    assert wanted["published"].notna().sum() > 50
    pd.testing.assert_frame_equal(pd.DataFrame(rows_of[1]), wanted, check_exact=False, rtol=1e-9)


def of_a_published_study(known: Tables) -> Tables:
    """The sessions of one study, as if it repeated the think-aloud study of the paper."""
    frames = {
        name: frame[frame["study"] == "small-within"].reset_index(drop=True)
        for name, frame in known.by_name().items()
    }
    frames["participants"] = frames["participants"].assign(
        replicates_paper="000", replicates_study="synthetic-crowd", declared=None
    )
    return Tables.of(frames, frames["snapshots"])
