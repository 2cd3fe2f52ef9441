"""No command writes into the folder of a session, whatever it writes and however the place is
named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labapp.base.errors import UsageError
from labapp.cli.main import OUTPUTS, command_tree
from labapp.record.journal.layout import refuse_inside
from tests.helpers.journals import golden_session


def _options(command: Any, name: str = "labapp") -> Iterator[tuple[str, Any]]:
    for child, each in getattr(command, "commands", {}).items():
        yield from _options(each, f"{name} {child}")
    yield from ((name, option) for option in command.params)


def test_every_option_that_names_an_output_is_checked() -> None:
    """An option that says "write" and is not checked is found here before anybody's session is."""
    outputs = []
    for name, option in _options(command_tree()):
        told = (getattr(option, "help", "") or "").casefold()
        if OUTPUTS & {*option.opts}:
            outputs.append(name)
            assert option.callback is not None, name
        elif "to write" in told or told.startswith("write the participant"):
            pytest.fail(f"{name} {option.opts} writes somewhere, and nothing checks where")
    assert len(outputs) > 15


@pytest.mark.parametrize("way", ["plain", "dots", "link", "link to a folder in it", "relative"])
def test_a_place_inside_a_session_is_refused(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = golden_session(tmp_path / "data")
    link = tmp_path / "link"
    place = session / "inside"
    if way == "dots":
        place = session.parent / "nowhere" / ".." / session.name / "inside"
    elif way == "link":
        link.symlink_to(session)
        place = link / "a" / "b.zip"
    elif way == "link to a folder in it":
        link.symlink_to(session / "audio")
        place = link / "clip.wav"
    elif way == "relative":
        monkeypatch.chdir(session)
        place = Path("audio/../x.csv")
    with pytest.raises(UsageError, match="lies in the folder of the session"):
        refuse_inside(place)
    refuse_inside(tmp_path / "elsewhere")
    refuse_inside(session.parent / "beside.csv")


def test_every_command_refuses_it(tmp_path: Path) -> None:
    """By the option itself, before the command begins."""
    session = golden_session(tmp_path / "data")
    before = sorted(session.iterdir())
    for name, option in _options(command_tree()):
        if not OUTPUTS & {*option.opts}:
            continue
        with pytest.raises(UsageError, match="lies in the folder of the session"):
            option.callback(None, option, Path(session / "audio" / "out"))
        assert option.callback(None, option, None) is None, name
    assert sorted(session.iterdir()) == before


def test_annotations_are_no_place_either(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    with pytest.raises(UsageError, match="lies in the annotations of the study"):
        refuse_inside(session.parent / "annotations" / session.name / "out.csv")
