"""Names that nothing may have which names a file or folder."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from labapp.base.errors import LabappError, SessionError, StudyError
from labapp.base.naming import OWN, WINDOWS, reserved
from labapp.models.representations.card import ModelCard
from labapp.models.representations.recipe import Recipe
from labapp.models.representations.tfjs import _checked
from labapp.models.stimuli.manifest import Manifest
from labapp.study import loading, planner
from labapp.study.schema import Participants, StudyId
from labapp.ui.moderator import checklist

BAD = ("con", "CON", "nul", "aux", "prn", "com1", "LPT9", "private", "Models", "con.txt")


@pytest.mark.parametrize("name", BAD)
def test_what_is_reserved(name: str) -> None:
    assert name in reserved(name)
    assert reserved(f"dsprites/{name}")
    assert reserved(f"{name}/ss10")


@pytest.mark.parametrize("name", ["console", "p01", "com", "com10", "P01", "dsprites/gt", "privat"])
def test_what_is_not(name: str) -> None:
    assert reserved(name) == ""


@pytest.mark.parametrize("name", ["con", "private"])
def test_no_document_takes_such_an_id(name: str) -> None:
    with pytest.raises(ValidationError, match="another name"):
        TypeAdapter(StudyId).validate_python(name)
    for model, id_ in ((ModelCard, f"dsprites/{name}"), (Recipe, f"{name}/gt"), (Manifest, name)):
        with pytest.raises(ValidationError) as caught:
            TypeAdapter(model).validate_python({"id": id_})
        assert any(
            "another name" in str(e["msg"]) and e["loc"][-1] == "id" for e in caught.value.errors()
        ), model
    with pytest.raises(LabappError, match="cannot be called"):
        _checked(f"mnist/{name}")


def test_no_participant_is_a_device() -> None:
    with pytest.raises(ValidationError, match="another pattern"):
        Participants(pattern="COM{}")
    assert Participants(pattern="C{}").label(1) == "C1"


def test_no_session_is_a_device() -> None:
    loaded = loading.load("quickstart")
    with pytest.raises(SessionError, match="Windows keeps the name 'nul'"):
        planner.realise(loaded, "P01", "nul", space_of=lambda model: None)  # type: ignore
    row = checklist.participant_row(loaded.study.participants, {}, "P01", "nul")
    assert row.state == "missing"


def test_a_study_file_is_refused_with_its_line(tmp_path: Path) -> None:
    source = next(path for path in loading.shipped() if path.stem == "quickstart")
    study = yaml.safe_load(source.read_text()) | {"id": "private"}
    path = tmp_path / "private.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    with pytest.raises(StudyError, match="labapp keeps the name 'private'"):
        loading.load(path)


def test_the_list_is_lower_case() -> None:
    assert all(name == name.casefold() for name in WINDOWS | OWN)
