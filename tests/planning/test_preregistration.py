"""A registration says what the study declares, is frozen, and tells what changed later."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from labapp.analysis.registration import RECORD, Registration
from labapp.errors import ExportExists, UsageError
from labapp.planning.preregistration import preregister
from labapp.study import loading
from labapp.study.loading import LoadedStudy
from tests.study.test_design import OWN


def study(tmp_path: Path, text: str = OWN) -> LoadedStudy:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    return loading.load(path)


def test_both_forms_say_what_is_declared(tmp_path: Path) -> None:
    loaded = study(tmp_path)
    made = preregister(loaded, tmp_path / "out")
    for form in ("aspredicted.md", "osf.md"):
        text = (made.folder / form).read_text()
        for fact in (
            loaded.sha256,
            made.sha256,
            "hint, between participants: with, without",
            "model, within participants: sinelines/gt, sinelines/vae, sinelines/ae",
            "+1 × sinelines/gt −0.5 × sinelines/vae −0.5 × sinelines/ae",
            "It is expected to be above 0 (one-sided test).",
            "answered otherwise than 2 to check_1 (rule “attention”)",
            "has a median response time below 2 s (rule “too_fast”)",
            "12 participants who are not excluded in each of 4 conditions, 48 in all.",
            "Holm's correction over the tests of one outcome",
            "completion_rate: 0.15 in “first against the others”",
            "at least 5 of its items",
        ):
            assert fact in text, (form, fact)
    osf = (made.folder / "osf.md").read_text()
    assert "Before tests: response_time_s: log." in osf
    texts = [(made.folder / form).read_text() for form in ("aspredicted.md", "osf.md")]
    assert made.open == sum(text.count("[To be written by you: ") for text in texts) > 0


def test_the_study_is_frozen_as_it_is(tmp_path: Path) -> None:
    loaded = study(tmp_path)
    made = preregister(loaded, tmp_path / "out")
    record = (made.folder / RECORD).read_bytes()
    assert sha256(record).hexdigest() == made.sha256
    files = json.loads(record)["files"]
    assert files.keys() == loaded.files.keys()
    for name, digest in files.items():
        copy = (made.folder / "study" / name).read_bytes()
        assert copy == loaded.files[name]
        assert sha256(copy).hexdigest() == digest
    with pytest.raises(ExportExists):
        preregister(loaded, tmp_path / "out")
    assert (made.folder / RECORD).read_bytes() == record


def test_later_changes_are_told_one_by_one(tmp_path: Path) -> None:
    made = preregister(study(tmp_path), tmp_path / "out")
    registered = Registration.read(made.folder)
    assert list(registered.changes(study(tmp_path).study.declared)) == []
    changed = OWN.replace("per_cell: 12", "per_cell: 10").replace(
        "  too_fast:  {median_response_s_below: 2}\n", ""
    )
    later = study(tmp_path, changed.replace("correction: holm", "correction: none"))
    assert sorted(registered.changes(later.study.declared)) == [
        'analysis.correction: registered as "holm"; now "none"',
        "design.per_cell: registered as 12; now 10",
        'exclude.too_fast: registered as {"median_response_s_below": 2.0}; now not said',
    ]
    assert registered.unregistered(
        ["completion_rate", "seq"], ["first against the others", "ae − vae"]
    ) == ["seq", "ae − vae"]


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"format": 2}', b'{"format": 1}', b"\xff"])
def test_what_is_no_registration_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / RECORD).write_bytes(content)
    with pytest.raises(UsageError, match="cannot be read as a registration"):
        Registration.read(tmp_path)


def test_a_study_that_declares_nothing_has_nothing_to_register(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="declares no hypotheses"):
        preregister(loading.load("quickstart"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
