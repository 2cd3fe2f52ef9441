"""What a group of the unmasking study says, as rows of the table of statistics.

Items are the tables (1, 2) and figures (3 to 9) of paper 004; ours follow: 10 psychometric
functions, 11 tests between methods, 12 the mixed logistic model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from labapp.tasks.unmasking.report import published as paper
from labapp.tasks.unmasking.report.results import LABEL, Found

Row = dict[str, Any]
DESIGN = "unmasking"
SHARE, MS, PHOTOS = "0-1", "ms", "photos"
FRIEDMAN, WILCOXON = "Friedman chi-square", "Wilcoxon signed rank, p by Holm"
FIT, MIXED = "maximum likelihood", "mixed logistic model"
_ENDS = ("low", "high")


def rows(result: Found) -> list[Row]:
    """The rows of a group, in the order of the items."""
    about = {"study": result.group.name, "design": DESIGN}
    makers = (_model_tables, _people, _model, _ranks, _bias, _fits, _tests)
    return [about | row for make in makers for row in make(result)]


def _model_tables(result: Found) -> Iterator[Row]:
    for row in _records(result.classes):
        if not pd.isna(row["n"]):
            printed = paper.IMAGES.get(row["class"])
            yield _row(1, f"photos of {row['class']}", PHOTOS, "count", row["n"], n=row["n"]) | {
                "published": None if printed is None else str(printed)
            }
    for row in _records(result.report):
        known = paper.MODEL.get(row["class"])
        for name in ("precision", "recall", "f1"):
            of = row["class"] or "average weighted by class"
            yield _row(2, f"{name}, {of}", SHARE, "share", row[name], n=row["support"]) | {
                "published": None if known is None else f"{getattr(known, name):.2f}"
            }


def _people(result: Found) -> Iterator[Row]:
    """Figures 3 to 6."""
    for row in _records(result.labels):
        printed = None
        if row["percent"] == paper.LABELS_AT:
            asked = paper.LABELS + paper.DONT_KNOW
            printed = f"{paper.LABELS / asked:.3f} ({paper.LABELS:,} of {asked:,})"
        yield _of_people(result, row, 3, "a class is named", SHARE, "share") | {
            "published": printed
        }
    for row in _records(result.labels_by_method):
        yield _of_people(result, row, 4, "a class is named", SHARE, "share")
    for row in _records(result.times):
        for kind in ("mean", "median"):
            ends = (f"{kind}_low", f"{kind}_high")
            yield _of_people(result, row, 5, "reaction time", MS, kind, kind, ends)
    for row in _records(result.accuracy):
        name = "correct, “I don't know” is not"
        yield _of_people(result, row, 6, name, SHARE, "share")
        labelled = row | {"n": row["n_labels"]}
        name, ends = "correct, of named classes", ("labels_low", "labels_high")
        yield _of_people(result, labelled, 6, name, SHARE, "share", "share_of_labels", ends)


def _model(result: Found) -> Iterator[Row]:
    """Figure 7."""
    for row in _records(result.whole):
        printed = paper.MODEL[""].recall
        whole = _row(7, "model correct, whole images", SHARE, "share", row["share"], n=row["n"])
        yield whole | {"published": f"{printed:.2f} (all {paper.MODEL[''].support} images)"}
    for row in _records(result.model):
        yield _row(7, "model correct, masked images", SHARE, "share", row["share"], row)
        name = "model's cross-entropy, masked images"
        yield _row(7, name, "nats", "mean", row["cross_entropy"], row) | dict.fromkeys(_ENDS)


def _ranks(result: Found) -> Iterator[Row]:
    """Figure 8."""
    for frame in (result.ranks.overall, result.ranks.by_mask):
        for row in _records(frame):
            name = f"rank by {row['who']}, 1 is best"
            yield _row(8, name, "rank", "mean", row["rank"], row)
    for row in _records(result.ranks.agreement):
        name = f"ranks by people and model, {row['over']}"
        yield _row(8, name, "", row["coefficient"], None, row) | {
            "statistic": row["value"],
            "ours": True,
        }


def _bias(result: Found) -> Iterator[Row]:
    """Figure 9."""
    for row in _records(result.bias.shares):
        name = f"wrong prediction named, {row['wrong']} image"
        yield _of_people(result, row, 9, name, SHARE, "mean of the images' shares", "share")
    for row in _records(result.bias.times):
        for kind in ("mean", "median"):
            name = f"reaction time, wrong prediction of the {row['wrong']} image: {row['answer']}"
            ends = (f"{kind}_low", f"{kind}_high")
            yield _of_people(result, row, 9, name, MS, kind, kind, ends)


def _fits(result: Found) -> Iterator[Row]:
    """Empty where there is no fit, or its threshold means nothing."""
    for row in _records(result.fits.pooled):
        of = "a class is named" if row["of"] == LABEL else "correct"
        for name, unit in (
            ("threshold", "% shown"),
            ("slope", "logits per ln %"),
            ("guess", SHARE),
            ("lapse", SHARE),
        ):
            rate = " rate" if unit == SHARE else ""
            ends = (f"{name}_low", f"{name}_high")
            fitted = _row(10, f"{name}{rate}, {of}", unit, FIT, row[name], row, ends=ends)
            nothing = dict.fromkeys(("mean", *_ENDS)) if row["why"] else {}
            yield fitted | {"n_participants": row["n_participants"], "ours": True} | nothing


def _tests(result: Found) -> Iterator[Row]:
    for row in _records(result.comparisons.friedman):
        test = _row(11, "correct, “I don't know” is not", SHARE, FRIEDMAN, None, row)
        yield test | {
            "n_participants": row["n"],
            "ours": True,
            "statistic": row["statistic"],
            "df": row["df"],
            "p": row["p_holm"],
        }
    for row in _records(result.comparisons.pairs):
        name = f"correct, “I don't know” is not: less that with {row['other']}"
        yield _row(11, name, SHARE, WILCOXON, row["mean_difference"], row) | {
            "n_participants": row["n"],
            "ours": True,
            "compared_with": row["other"],
            "statistic": row["statistic"],
            "p": row["p_holm"],
            "significant": None if pd.isna(row["p_holm"]) else bool(row["significant"]),
        }
    for row in _records(result.comparisons.mixed):
        effect = _row(12, f"correct: {row['effect']}", "log odds", MIXED, row["estimate"], row)
        yield effect | {"sd": row["sd"], "ours": True, "n_participants": result.group.participants}


def _of_people(
    result: Found,
    row: Mapping[str, Any],
    item: int,
    name: str,
    unit: str,
    test: str,
    value: str = "share",
    ends: tuple[str, str] = _ENDS,
) -> Row:
    """A row about participants."""
    made = _row(item, name, unit, test, row[value], row, ends=ends)
    return made | {"n_participants": result.group.participants}


def _row(
    item: int,
    name: str,
    unit: str,
    test: str,
    value: float | None,
    given: Mapping[str, Any] | None = None,
    *,
    n: int | None = None,
    ends: tuple[str, str] = _ENDS,
) -> Row:
    """given: a row of a frame, whose method, mask, n and interval are taken where it has them."""
    row = given or {}
    low, high = ends
    return {
        "item": str(item),
        "quantity": name,
        "unit": unit,
        "test": test,
        "ours": False,
        "n": int(row["n"]) if n is None else int(n),
        "mean": value,
        "method": row.get("method"),
        "percent": row.get("percent"),
        "low": row.get(low),
        "high": row.get(high),
    }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame by the names of its columns."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
