"""Projects of BORIS: every code is there, in pairs, and nothing is left open."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from labapp.coding.agreement.coefficients import CohenKappa, Span, instants, labels_at
from labapp.coding.agreement.measure import coefficient, ratings_of
from labapp.coding.annotations.codebook import Code as BookCode
from labapp.coding.annotations.codebook import Codebook, Tier
from labapp.coding.exchange.files import ms
from labapp.coding.exchange.gathering import export_coding
from labapp.coding.exchange.incoming import FORMATS
from labapp.coding.exchange.model import Annotation, Sheet
from labapp.coding.exchange.tables import POINT
from labapp.record.journal.opening import open_record
from tests.helpers.exchanged import MS, SECOND, exchanged_session, sheet_with, sheets
from tests.helpers.nightly import examples


def written(sheet: Sheet, folder: Path) -> dict[str, Any]:
    path = folder / "sheet.boris"
    path.unlink(missing_ok=True)
    FORMATS["boris"].write([sheet], path)
    project: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return project


def stretches(project: dict[str, Any]) -> Counter[tuple[object, ...]]:
    """What BORIS makes of the events: the second one of a subject, behaviour and modifier ends the
    first."""
    kinds = {row["code"]: row["type"] for row in project["behaviors_conf"].values()}
    known = {row["name"] for row in project["subjects_conf"].values()}
    read: Counter[tuple[object, ...]] = Counter()
    for observation in project["observations"].values():
        times = [event[0] for event in observation["events"]]
        assert times == sorted(times)
        open_: dict[tuple[str, ...], tuple[float, str]] = {}
        for at, subject, code, modifier, comment in observation["events"]:
            assert subject in known
            if kinds[code] == POINT:
                read[code, modifier, at, at, comment] += 1
            elif (subject, code, modifier) in open_:
                begin, words = open_.pop((subject, code, modifier))
                read[code, modifier, begin, at, words + comment] += 1
            else:
                open_[subject, code, modifier] = at, comment
        assert not open_
    return read


@settings(
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(sheet=sheets())
def test_every_code_is_a_pair_of_events_or_a_moment(sheet: Sheet, tmp_path: Path) -> None:
    sent = Counter(
        (
            a.code, "" if a.value is None else str(a.value),
            ms(a.t0_ns) / 1000, ms(a.t1_ns) / 1000, a.memo,
        )
        for a in sheet.annotations
    )  # fmt: skip
    assert stretches(written(sheet, tmp_path)) == sent


def test_a_code_that_overlaps_itself_goes_on_with_a_further_subject(tmp_path: Path) -> None:
    ends = [(0, 4), (2, 6), (4, 8)]
    given = [Annotation(f"a{b}", "affect", "uncertain", b * SECOND, e * SECOND) for b, e in ends]
    project = written(sheet_with((), tuple(given)), tmp_path)
    (observation,) = project["observations"].values()
    assert [(at, subject) for at, subject, *_ in observation["events"]] == [
        (0.0, "P01"), (2.0, "P01 #2"), (4.0, "P01"), (4.0, "P01"), (6.0, "P01 #2"), (8.0, "P01"),
    ]  # fmt: skip


def test_codes_are_behaviours_with_their_category_keys_and_values(tmp_path: Path) -> None:
    book = Codebook(
        "b", 1, "", (Tier("a", "First", exclusive=True, values=(1, 2)), Tier("c")),
        (BookCode("x", "a", "Ex", "x"), BookCode("y", "a", "Why"), BookCode("z", "c", "Z", "x")),
    )  # fmt: skip
    project = written(sheet_with(book=book), tmp_path)
    rows = list(project["behaviors_conf"].values())
    assert [(r["code"], r["key"], r["category"], r["excluded"]) for r in rows] == [
        ("x", "x", "First", "y"), ("y", "", "First", "x"), ("z", "", "c", ""),
    ]  # fmt: skip
    assert rows[0]["modifiers"]["0"]["values"] == ["1", "2"]
    assert rows[2]["modifiers"] == ""
    assert project["behavioral_categories"] == ["First", "c"]


def test_each_sound_file_is_an_observation_with_its_length(tmp_path: Path) -> None:
    session = exchanged_session(tmp_path)
    exported = export_coding(
        open_record(session), "anna", FORMATS["boris"], tmp_path / "P01.boris", with_sound=True
    )
    project = json.loads(exported.files[0].read_text())
    assert project["project_format_version"] == "7.0"
    assert project["independent_variables"] == {}  # anna was blind to names
    first, second = project["observations"].values()
    assert [*project["observations"]] == [
        f"{session.name} segment-0{number} anna" for number in (1, 2)
    ]
    assert first["file"]["1"] == ["P01_segment-01.wav"]
    assert (tmp_path / "P01_segment-01.wav").is_file()
    assert first["media_info"]["length"]["P01_segment-01.wav"] == pytest.approx(70)
    assert second["type"] == "MEDIA"
    assert any("units and their words" in why for why in exported.lost)
    without = export_coding(
        open_record(session), "anna", FORMATS["boris"], tmp_path / "b.boris", base="session"
    )
    (live,) = json.loads(without.files[0].read_text())["observations"].values()
    assert live["type"] == "LIVE"


@pytest.mark.parametrize(("step", "kappa"), [(1000, 0.636), (100, 0.860)])
def test_what_goes_out_has_the_kappa_that_boris_computes_of_it(
    step: int, kappa: float, tmp_path: Path
) -> None:
    """BORIS 8.27.4 gives these two of the same project."""
    rest = [(5000, 7420), (7420, 9000)]
    book = Codebook("b", 1, "", (Tier("t"),), tuple(BookCode(c, "t", c) for c in ("a", "b", "c")))
    coded = []
    for rater, explore in (("anna", (1200, 3850)), ("ben", (1600, 4250))):
        rows = zip(("a", "b", "c"), (explore, *rest), strict=True)
        given = tuple(
            Annotation(f"{rater}{code}", "t", code, begin * MS, end * MS)
            for code, (begin, end) in rows
        )
        coded.append(replace(sheet_with((), given, book=book), rater=rater))
    path = tmp_path / "both.boris"
    FORMATS["boris"].write(coded, path)
    project = json.loads(path.read_text())
    assert len(project["observations"]) == 2
    labels: dict[frozenset[str], int] = {}
    columns = []
    for name in project["observations"]:
        one = {**project, "observations": {name: project["observations"][name]}}
        spans = [
            Span(round(1000 * begin), round(1000 * end), code)  # type: ignore[arg-type, call-overload]
            for code, _, begin, end, _ in stretches(one)
        ]
        columns.append(labels_at(spans, instants(1200, 9000, step), labels))
    ratings = ratings_of(np.stack(columns, axis=1).tolist())
    assert coefficient(CohenKappa(), ratings).value == pytest.approx(kappa, abs=5e-4)
