"""Quotas: counted over a study's sessions, told to the moderator, and what happens when full."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.analysis.sections import describe_quotas
from labapp.analysis.tables import load as load_tables
from labapp.base.errors import faults_of
from labapp.record.events.lifecycle import AlarmRaised, QuotaCounted, QuotaMet, SessionEnded
from labapp.record.journal.opening import open_record
from labapp.session.condition_assignment import count_quotas, people_of
from labapp.session.gate import gate, look_at
from labapp.session.overview import overview
from labapp.session.simulation.at_scale import simulate_at_scale
from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.beside import put_beside

STUDY = """\
id: shares
title: Shares
version: 1
recording: {audio: "off"}
design: {between: {hint: ["with", "without"]}, per_cell: 4}
quotas:
  often: {when: {people.used: often}, at_most: 2, full: end}
  young: {when: {people.age: {below: 60}}, share: 0.5}
flow:
  - consent: texts/{language}/consent.md
  - questionnaire: people
  - stages: {task: reconstruction, models: [sinelines/gt], trials: 1, skip: always}
    only_if: {hint: "with"}
  - debrief: texts/{language}/debrief.md
"""
PEOPLE = """\
id: people
version: 1
source: ours
title: People
items:
  - {id: used, kind: choice, text: "Used?", options: [{id: often, text: O}, {id: never, text: N}]}
  - {id: age, kind: number, text: "Age?", low: 18, high: 99}
"""


def write(folder: Path, *changes: tuple[str, str]) -> Path:
    put_beside(folder)
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "instruments" / "people.yaml").write_text(PEOPLE)
    (folder / "own.yaml").write_text(text)
    return folder / "own.yaml"


def test_a_full_quota_ends_a_session_or_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "study", ("flow:\n", "labels: {with: A hint}\nflow:\n"))
    assert gate(path).study.quota_limits == {"often": 2, "young": 4}
    data = tmp_path / "data"
    folders = simulate_at_scale(str(path), 14, "random", data)
    held = {"often": 0, "young": 0}
    ended = 0
    for folder in folders:
        payloads = [payload for _, payload in open_record(folder).payloads()]
        counted = {each.quota: each for each in payloads if isinstance(each, QuotaCounted)}
        assert {name: each.count for name, each in counted.items()} == held
        met = {each.quota: each.full for each in payloads if isinstance(each, QuotaMet)}
        for name, full in met.items():
            assert full == (held[name] >= counted[name].limit)
        alarms = [each.code for each in payloads if isinstance(each, AlarmRaised)]
        assert alarms.count("quota_full") == sum(met.values())
        ends = [each for each in payloads if isinstance(each, SessionEnded)]
        if met.get("often"):
            assert [each.reason for each in ends] == ["quota full: often"]
            tasks = [part for part in payloads[0].plan if part["part"] == "reconstruction"]
            assert ends[0].debriefed == (not tasks), "no task had begun, if there is one"
            ended += 1
        else:
            assert not ends
            held = {name: n + (name in met) for name, n in held.items()}
    assert ended
    study = gate(path).study
    assert count_quotas(people_of(data, study), study) == held
    assert held["often"] == 2
    shown = overview(str(path), 1, data)
    lines = shown.lines()
    assert "Quota often: 2 of at most 2 (full)." in lines
    assert any(line.startswith("  hint: A hint ") for line in lines), "the label of a level"
    assert shown.to_json()["quotas"] == held
    tables = load_tables(data)
    said = " ".join(describe_quotas(tables.included(), "shares"))
    assert "at most 2 participants applied to one group (people.used: often); 2 of the" in said
    assert "at most 50 % of all participants applied to one group (people.age below 60); " in said
    quotas = tables.participants["quotas"].dropna()
    assert sum("often!" in names.split(";") for names in quotas) == ended
    assert quotas.str.split(";").explode().isin(["often", "often!", "young", "young!"]).all()


def test_a_session_that_was_ended_gives_its_place_away(tmp_path: Path) -> None:
    path = write(tmp_path / "study", ("at_most: 2, full: end", "at_most: 1, full: end"))
    simulate_study(str(path), None, "random", tmp_path / "data")
    study = gate(path).study
    everybody = people_of(tmp_path / "data", study)
    assert sum(person.state == "included" for person in everybody) == 8
    assert count_quotas(everybody, study)["often"] <= 1


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("at_most: 2", "at_most: 0", 7, "quotas.often.at_most: found 0; allowed: greater"),
        ("at_most: 2, full", "full", 7, "quotas.often: allowed: either at_most or share"),
        ("at_most: 2, full", "at_most: 2, share: 0.5, full", 7, "either at_most or share"),
        ("full: end", "full: stop", 7, "found 'stop'; allowed: 'tell' or 'end'"),
        ("at_most: 2", "atmost: 2", 7, "unknown key 'atmost' (did you mean 'at_most'?)"),
        ("share: 0.5", "share: 50", 8, "quotas.young.share: found 50; allowed: less than 1"),
        (", per_cell: 4", "", 8, "a share needs a total"),
        ("{people.used: often}", "{}", 7, "found nothing; allowed: answers with their values"),
        ("{people.used: often}", '{hint: "with"}', 7, "it does not depend on an answer"),
        ("people.used: often", "people.used: oftn", 7, "people.used is never 'oftn'"),
        ("people.used: often", "people.usd: often", 7, "there is no item 'people.usd'"),
        ("often: {when", "Often much: {when", 7, "quotas"),
        ("quotas:", "quota:", 6, "unknown key 'quota' (did you mean 'quotas'?)"),
    ],
)
def test_a_mistake_in_a_quota(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    told = [
        (fault.line, f"{fault.key}: {fault.what}")
        for error in look_at(write(tmp_path, (old, new))).errors
        for fault in faults_of(error)
    ]
    assert [at for at, _ in told] == [line], told
    assert said in told[0][1]
