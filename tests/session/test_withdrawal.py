"""A participant withdraws, during a session or later: whole or not at all, and for good."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from labapp.base.clock import FakeClock
from labapp.base.errors import (
    DataFolderError,
    ParticipantTaken,
    RecordError,
    SessionBusy,
    SessionError,
)
from labapp.coding.annotations.ledger import Ledger
from labapp.coding.annotations.model import annotations_folder, rater_file
from labapp.coding.annotations.redacting import note_handed_out
from labapp.record.audio.capture import wav_header
from labapp.record.audio.pyramid import pyramid_of
from labapp.record.audio.recorded_sound import WavSamples
from labapp.record.events.commands import EndSession
from labapp.record.journal import anchor
from labapp.record.journal.decisions import Withdrawal, withdrawal_problems, withdrawals
from labapp.record.journal.layout import EXPORTS, LEAVING, WITHDRAWN
from labapp.record.journal.opening import open_record, places
from labapp.record.journal.sessions import list_problems, list_sessions
from labapp.session import folder, opening
from labapp.session.bids.export import export
from labapp.session.opening import OpenSession
from labapp.session.private import consents
from labapp.session.withdrawal import withdraw
from labapp.study.loading import load
from tests.helpers.drawn import begun
from tests.helpers.trees import snapshot
from tests.session.sessions import begin_session, new_session, resume_session


def agreed(tmp_path: Path, participant: str = "P01", *, close: bool = True) -> OpenSession:
    """A session of the quick start, past its consent."""
    session = begin_session(tmp_path, participant=participant)
    session.give_consent(f"Name of {participant}")
    if close:
        session.close("interrupted")
    return session


def names(tmp_path: Path) -> list[str]:
    return [record.name for record in consents(tmp_path / "private", "quickstart")]


def test_deleting_removes_data_and_consent_and_keeps_the_label(tmp_path: Path) -> None:
    path = agreed(tmp_path).folder.path
    agreed(tmp_path, "P02")
    done = withdraw(path, tmp_path / "private", delete=True)
    assert done.lines()[:2] == [
        f"{path.name} was withdrawn. Its data are deleted.",
        "The signed consent was deleted.",
    ]
    assert names(tmp_path) == ["Name of P02"]
    stored = (tmp_path / "private" / "quickstart.sqlite").read_bytes()
    assert b"Name of P02" in stored
    assert b"Name of P01" not in stored, "not in the free pages either"
    assert sorted(snapshot(path.parent))[-1] == WITHDRAWN
    assert not [name for name in snapshot(path.parent) if "sub-P01" in name]
    (left,) = withdrawals(path.parent).values()
    assert (left.participant, left.session, left.kept) == ("P01", "1", False)
    assert folder.list_taken_labels(tmp_path / "data", "quickstart")["P01"] == ["1"]
    for session in ("1", "2"):
        with pytest.raises(ParticipantTaken, match="P01 withdrew from quickstart"):
            new_session(tmp_path / "data", load("quickstart"), "P01", session, FakeClock())
    with pytest.raises(RecordError):
        withdraw(path, tmp_path / "private", delete=True)


def test_keeping_touches_nothing_of_the_session(tmp_path: Path) -> None:
    path = agreed(tmp_path).folder.path
    before = snapshot(path)
    done = withdraw(path, tmp_path / "private", delete=False)
    assert done.lines() == [f"{path.name} was withdrawn. Its data are kept."]
    assert snapshot(path) == before
    assert names(tmp_path) == ["Name of P01"]
    (listed,) = list_sessions(tmp_path / "data")
    assert listed.withdrawn == "keep"
    with pytest.raises(SessionError, match="withdrew; the session cannot be resumed"):
        resume_session(tmp_path, path)
    withdraw(path, tmp_path / "private", delete=False)
    assert len((path.parent / WITHDRAWN).read_text().splitlines()) == 1, "said once"
    withdraw(path, tmp_path / "private", delete=True)
    assert list_sessions(tmp_path / "data") == []
    assert not withdrawals(path.parent)[path.name].kept


@pytest.mark.parametrize("wish", ["delete", "keep"])
def test_withdrawing_in_a_session(tmp_path: Path, wish: str) -> None:
    session = agreed(tmp_path, close=False)
    session.runner.send(EndSession("asked to stop", wish))
    assert session.folder.path.is_dir(), "not while it is open"
    session.close("withdrawn")
    session.close("again")
    assert session.folder.path.is_dir() == (wish == "keep")
    assert names(tmp_path) == (["Name of P01"] if wish == "keep" else [])
    (left,) = withdrawals(session.folder.path.parent).values()
    assert left.kept == (wish == "keep")


def test_an_open_session_is_left_alone(tmp_path: Path) -> None:
    session = agreed(tmp_path, close=False)
    with pytest.raises(SessionBusy):
        withdraw(session.folder.path, tmp_path / "private", delete=True)
    assert not withdrawals(session.folder.path.parent)
    session.close("test over")


def test_a_deletion_that_was_interrupted_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = agreed(tmp_path).folder.path

    def refuses(*_: object) -> None:
        raise PermissionError(13, "in use")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", refuses)
        with pytest.raises(DataFolderError, match="Not all of"):
            withdraw(path, tmp_path / "private", delete=True)
    leaving = path.parent / f"{LEAVING}{path.name}"
    assert leaving.is_dir()
    assert list_sessions(tmp_path / "data") == []
    (path.parent / WITHDRAWN).unlink()  # as if it had been killed right after the renaming
    assert folder.list_taken_labels(tmp_path / "data", "quickstart") == {"P01": ["1"]}
    withdraw(path, tmp_path / "private", delete=False)
    assert not leaving.exists()
    assert not withdrawals(path.parent)[path.name].kept, "what was begun is finished"


def test_a_renamed_folder_costs_nobody_the_consent(tmp_path: Path) -> None:
    path, other = agreed(tmp_path).folder.path, agreed(tmp_path, "P02").folder.path
    before = snapshot(tmp_path / "private")
    shutil.rmtree(other)
    wrong = path.rename(path.with_name(path.name.replace("P01", "P02")))
    with pytest.raises(RecordError, match="belongs to participant P01, session 1"):
        withdraw(wrong, tmp_path / "private", delete=True)
    assert wrong.is_dir()
    assert snapshot(tmp_path / "private") == before
    assert not withdrawals(wrong.parent)


@pytest.mark.parametrize("lost", [False, True])
def test_a_session_whose_journal_is_damaged_or_lost_can_be_withdrawn(
    tmp_path: Path, lost: bool
) -> None:
    """Its sound is there, and its consent."""
    home = agreed(tmp_path).folder
    agreed(tmp_path, "P02")
    home.journal.unlink()
    if not lost:
        home.journal.write_bytes(b"no journal")
    done = withdraw(home.path, tmp_path / "private", delete=True)
    assert done.consents == 1
    assert not home.path.exists()
    assert names(tmp_path) == ["Name of P02"]
    assert withdrawals(home.path.parent)[home.path.name].participant == "P01"


def test_the_consent_goes_wherever_the_session_lies(tmp_path: Path) -> None:
    """A lab may put sessions aside, into a folder of another name than their study's."""
    path = agreed(tmp_path).folder.path
    aside = tmp_path / "aside" / path.name
    aside.parent.mkdir()
    path.rename(aside)
    withdraw(aside, tmp_path / "private", delete=True)
    assert names(tmp_path) == []


@pytest.mark.parametrize("delete", [True, False])
def test_a_person_withdraws_with_all_sessions(tmp_path: Path, delete: bool) -> None:
    path = agreed(tmp_path).folder.path
    again = begun(load("quickstart"), tmp_path, "P01", session="2")
    again.give_consent("Name of P01")
    again.close("interrupted")
    agreed(tmp_path, "P02")
    renamed = path.with_name(path.name.replace("P01", "P11"))
    shutil.copytree(path, renamed)
    done = withdraw(path, tmp_path / "private", delete=delete)
    assert [each.withdrawal.session for each in done.more] == ["2"]
    assert done.lines()[-1] == (
        "These folders with the participant’s sessions had been renamed and were not changed: "
        f"{renamed.name}. Give them their old names back, then withdraw them too."
    )
    left = {line.id: line.withdrawn for line in list_sessions(tmp_path / "data")}
    here = {line.participant for line in list_sessions(tmp_path / "data")}
    assert here == ({"P02", "P11"} if delete else {"P01", "P02", "P11"})
    assert set(left.values()) == ({""} if delete else {"", "keep"})
    assert names(tmp_path) == (["Name of P02"] if delete else ["Name of P01"] * 2 + ["Name of P02"])


def test_a_withdrawal_of_one_session_by_an_older_program_holds_for_all(tmp_path: Path) -> None:
    path = agreed(tmp_path).folder.path
    agreed(tmp_path, "P02")
    again = begun(load("quickstart"), tmp_path, "P01", session="2")
    again.close("interrupted")
    line = Withdrawal(path.name, "P01", "1", "2026-01-02T03:04:05Z", kept=True)
    anchor.add_line(path.parent / WITHDRAWN, line.to_json())
    told = {line.id: line.withdrawn for line in list_sessions(tmp_path / "data")}
    assert told[path.name] == told[again.folder.path.name] == "keep"
    assert open_record(again.folder.path).withdrawn == "keep"


def test_what_keeps_another_session_is_told(tmp_path: Path) -> None:
    path = agreed(tmp_path).folder.path
    again = begun(load("quickstart"), tmp_path, "P01", session="2")
    with pytest.raises(SessionBusy) as caught:
        withdraw(path, tmp_path / "private", delete=True)
    assert not path.exists()
    assert "P01 has withdrawn" in str(caught.value.safe)
    assert again.folder.path.name in str(caught.value.todo)
    again.close("interrupted")
    withdraw(again.folder.path, tmp_path / "private", delete=True)
    assert list_sessions(tmp_path / "data") == []


def test_exports_that_the_log_does_not_tell_are_not_passed_over(tmp_path: Path) -> None:
    one, two = agreed(tmp_path).folder.path, agreed(tmp_path, "P02").folder.path
    log = one.parent / EXPORTS
    log.write_text('{"sessions": ["sub-P01\n')
    told = f"{log}, line 1 is damaged, so an export may be missing from the list"
    assert list_problems(tmp_path / "data") == [told]
    assert withdraw(one, tmp_path / "private", delete=True).lines()[-1] == told
    log.unlink()
    log.mkdir()
    why = "it is a folder, not a file"
    told = f"{log} cannot be read ({why}), so it is unclear what has been exported"
    assert list_problems(tmp_path / "data") == [told]
    assert withdraw(two, tmp_path / "private", delete=True).lines()[-1] == told


def test_private_records_that_were_never_made_stop_nothing(tmp_path: Path) -> None:
    path = agreed(tmp_path).folder.path
    (tmp_path / "private" / "quickstart.sqlite").write_bytes(b"")
    assert withdraw(path, tmp_path / "private", delete=True).consents == 0
    assert not path.exists()


def test_a_cut_line_forgets_nobody_and_harms_no_other(tmp_path: Path) -> None:
    one, two = agreed(tmp_path).folder.path, agreed(tmp_path, "P02").folder.path
    withdraw(one, tmp_path / "private", delete=True)
    log = one.parent / WITHDRAWN
    log.write_bytes(log.read_bytes()[:-9])
    withdraw(two, tmp_path / "private", delete=True)
    assert list(withdrawals(one.parent)) == [one.name, two.name]
    (problem,) = withdrawal_problems(one.parent)
    assert f"{one.name} counts as withdrawn" in problem


def test_a_line_that_names_nobody_is_told_and_holds_up_the_data(tmp_path: Path) -> None:
    one, two = agreed(tmp_path).folder.path, agreed(tmp_path, "P02").folder.path
    (one.parent / WITHDRAWN).write_text("[" * 100_000 + "\n")
    with pytest.raises(RecordError, match=r"Line 1 of .* but not who"):
        withdrawals(one.parent)
    with pytest.raises(RecordError, match="but not who"):
        export([one], tmp_path / "bundle")
    assert [line.state for line in list_sessions(tmp_path / "data")] == ["interrupted"] * 2
    assert "it is not known who withdrew" in list_problems(tmp_path / "data")[0]
    withdraw(two, tmp_path / "private", delete=True)
    assert not two.exists()


def test_annotations_are_deleted_and_what_was_handed_out_is_named(tmp_path: Path) -> None:
    path = agreed(tmp_path).folder.path
    other = agreed(tmp_path, "P02").folder.path
    for session in (path, other):
        marks = rater_file(session, "anna")
        with Ledger(marks) as ledger:
            ledger.append("mark.put", {"memo": "said Jane"})
    note_handed_out(path.parent, "pack", tmp_path / "ben.zip", [path.name], rater="ben")
    note_handed_out(path.parent, "quotes", tmp_path / "quotes.md", [other.name])
    with Ledger(rater_file(path, "anna")), pytest.raises(SessionBusy, match="open in a window"):
        withdraw(path, tmp_path / "private", delete=True)
    assert path.is_dir(), "nothing was deleted while a window had it open"
    lines = withdraw(path, tmp_path / "private", delete=True).lines()
    assert "Its codes were deleted." in lines
    assert not {"Its units were deleted.", "Its texts were deleted."} & set(lines), (
        "there were none"
    )
    assert (
        "These files were handed out and still contain parts of the session: "
        f"pack {tmp_path / 'ben.zip'}" in lines
    )
    assert not annotations_folder(path).exists()
    assert rater_file(other, "anna").is_file(), "nobody else's"


def test_a_damaged_list_of_what_was_handed_out_is_told(tmp_path: Path) -> None:
    path = agreed(tmp_path).folder.path
    note_handed_out(path.parent, "pack", tmp_path / "ben.zip", [path.name])
    log = path.parent / "annotations" / "packs.jsonl"
    log.write_bytes(log.read_bytes().replace(b"ben", b"bem"))
    lines = withdraw(path, tmp_path / "private", delete=True).lines()
    assert any(line.startswith("labapp cannot tell which files were handed out") for line in lines)


def test_the_annotations_of_a_study_are_no_sessions_of_it(tmp_path: Path) -> None:
    path = agreed(tmp_path).folder.path
    with Ledger(rater_file(path, "anna")) as ledger:
        ledger.append("status", {"status": "draft"})
    assert places(path.parent) == [path]
    assert places(path.parent.parent) == [path]


def test_the_waveforms_of_its_sound_are_in_the_cache_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_CACHE", str(tmp_path / "cache"))
    path = agreed(tmp_path).folder.path
    sound = path / "audio" / "segment-01.wav"
    sound.parent.mkdir(exist_ok=True)
    sound.write_bytes(wav_header(8000, 16000) + b"\1\0" * 8000)
    with closing(WavSamples(sound.open("rb"))) as samples:
        pyramid_of(samples)
    assert snapshot(tmp_path / "cache" / "peaks")
    withdraw(path, tmp_path / "private", delete=True)
    assert not snapshot(tmp_path / "cache" / "peaks")


@pytest.mark.parametrize("wish", ["delete", "keep"])
def test_a_session_that_ended_by_a_withdrawal_is_not_called_complete(
    tmp_path: Path, wish: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the program was killed before it noted the withdrawal beside the session."""
    session = agreed(tmp_path, close=False)
    session.runner.send(EndSession("asked to stop", wish))
    path = session.folder.path
    monkeypatch.setattr(opening, "withdraw", lambda *_, **__: None)
    session.close("withdrawn")
    assert not (path.parent / WITHDRAWN).exists()
    with pytest.raises(SessionError, match="withdrew; the session cannot be resumed") as error:
        resume_session(tmp_path, path)
    assert "complete" not in str(error.value)
    assert ("--delete" in str(error.value)) == (wish == "delete")
