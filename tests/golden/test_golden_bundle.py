"""The exported golden session, file by file, and what the BIDS validator says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base import resources
from tests.helpers.bids import errors_in, validated
from tests.helpers.golden_bundle import REGENERATE, comparable, exported, kept
from tests.helpers.journals import GOLDEN

NOT_OURS_TO_FILL = {
    # What only the lab knows, or what does not apply to behavioural data without HED or terms.
    ("JSON_KEY_RECOMMENDED", "HEDVersion"),
    ("JSON_KEY_RECOMMENDED", "License"),
    ("JSON_KEY_RECOMMENDED", "SourceDatasets"),
    ("NO_AUTHORS", "Authors"),
    ("TOO_FEW_AUTHORS", None),
    ("SIDECAR_KEY_RECOMMENDED", "CogAtlasID"),
    ("SIDECAR_KEY_RECOMMENDED", "CogPOID"),
    ("SIDECAR_KEY_RECOMMENDED", "InstitutionName"),
    ("SIDECAR_KEY_RECOMMENDED", "InstitutionAddress"),
    ("SIDECAR_KEY_RECOMMENDED", "InstitutionalDepartmentName"),
}


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(resources, "models", lambda: GOLDEN / "models")
    return exported(tmp_path)


def test_every_file_is_the_golden_one(bundle: Path) -> None:
    found, golden = comparable(bundle), kept()
    assert sorted(found) == sorted(golden), f"after an intended change: {REGENERATE}"
    for name, text in found.items():
        assert text == golden[name], f"{name} differs; after an intended change: {REGENERATE}"


def test_bids_validator_finds_no_error(bundle: Path) -> None:
    """Runs offline: the schema is built into the validator."""
    result = validated(bundle)
    issues = result["issues"]["issues"]
    assert errors_in(result) == []
    others = {(issue["code"], issue.get("subCode")) for issue in issues} - NOT_OURS_TO_FILL
    assert others == {("SIDECAR_KEY_RECOMMENDED", "Instructions")}, "the session's own timeline"
    assert result["summary"]["totalFiles"] > 10
    assert sorted(result["summary"]["tasks"]) == ["reconstruction", "session"]
    assert not list(bundle.rglob(".bidsignore"))
