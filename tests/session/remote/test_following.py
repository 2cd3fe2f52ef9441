"""The session at another computer is the one that runs, event by event."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from labapp.base.errors import RecordError
from labapp.record.audio.recorder import Level
from labapp.record.events import Event, Source
from labapp.record.events.commands import AddNote, GivePrompt, Pause, Resume, SkipStage
from labapp.record.events.lifecycle import AlarmCleared, AlarmRaised, BlindingSet
from labapp.record.journal.read import read_rows
from labapp.session.remote import wire
from labapp.session.remote.following import FollowedSession
from labapp.session.remote.host import RemoteHost
from labapp.session.replay.history import STALLED
from labapp.session.runner import VirtualScheduler
from labapp.session.simulation.driver import Driver
from labapp.session.simulation.person import FAST
from labapp.tasks.interview.events import AskQuestion, EndInterview
from tests.helpers import waiting
from tests.helpers.sample import sample
from tests.session.remote.linked import Person, SharedSession
from tests.session.sessions import virtual_session
from tests.session.test_skipping import INTERVIEW_STUDY

Share = Callable[..., SharedSession]
AHEAD = 2_000
"""Messages that may wait for the process: virtual time is quicker than any network."""
STUDIES = ("quickstart", "gradcam-distinction-labels", "unmasking-faces", "mnist-think-aloud")


def wait_for(scheduler: VirtualScheduler, holds: Callable[[], bool]) -> None:
    """Real time passes, and what other threads post is done."""

    def meanwhile() -> None:
        if scheduler.next_ns <= scheduler.clock.now_ns():
            scheduler.run(lambda: scheduler.next_ns > scheduler.clock.now_ns())

    waiting.wait_for(holds, meanwhile)


@pytest.mark.parametrize("study", sample(list(STUDIES), ("quickstart",)))
def test_a_whole_session_is_followed_event_by_event(study: str, tmp_path: Path) -> None:
    """A simulated participant goes through it; somebody joins at once and another one midway."""
    session, scheduler, _, label = virtual_session(study, tmp_path)
    runner = session.runner
    states: dict[int, Any] = {}
    apply = runner.machine.apply

    def record(state: Any, event: Event, payload: Any) -> Any:
        states[event.seq] = apply(state, event, payload)
        return states[event.seq]

    runner.machine.apply = record  # type: ignore[method-assign]
    session.begin()
    host = RemoteHost(session, ["127.0.0.1"], lambda: None, 0)
    driver = Driver(
        runner, session.give_consent, "understanding", session.planned.seed, label, FAST,
        paints=True, language=session.planned.language,
    )  # fmt: skip
    wait_for(scheduler, lambda: bool(host.listening.codes))
    people = [join(host, tmp_path, "Anna", "moderator")]
    wait_for(scheduler, lambda: people[0].linked and host.moderator == 1)
    driver.start()

    def look() -> bool:
        while host._queue.qsize() > AHEAD:
            time.sleep(0.002)
        if len(people) == 1 and runner.state.index > 2:
            people.append(join(host, tmp_path, "Cleo", "observer"))
        return runner.finished

    scheduler.run(look)
    driver.stop()
    last = runner.journal._seq
    wait_for(scheduler, lambda: all(p.linked and len(p.rows) >= last for p in people))
    people[0].link.ask(AddNote("well done", 0))
    wait_for(scheduler, lambda: not people[0].link.waiting)
    host.close()
    wait_for(scheduler, lambda: all(person.over is not None for person in people))
    session.close("over")
    host._process.wait(60)
    stored = [(*row[:10], row.payload) for row in read_rows(session.folder.path)]
    assert len(people) == 2
    for person in people:
        rows = person.rows
        assert rows == stored[: len(rows)]
        assert rows[-1][5] == "remote.closed"
        follow_rows(person, rows, states)
        person.link.leave()


def join(host: RemoteHost, tmp_path: Path, name: str, role: wire.Role) -> Person:
    code, port = host.listening.codes[role], host.listening.port
    return Person(tmp_path / name, name, role, code, port)


def follow_rows(person: Person, rows: list[wire.Row], states: dict[int, Any]) -> None:
    """Fold them one by one, from two places in the session on."""
    for begin in (5, len(rows) // 2):
        followed = FollowedSession(
            person.link, person.folder, rows[:begin], lambda function: function()
        )
        compared = 0
        for row in rows[begin:]:
            followed.take(wire.Rows([row]))
            if (expected := states.get(row[0])) is not None:
                assert followed.state == expected, row
                compared += 1
        assert compared > 20
        assert followed.finished
        assert followed.error is None
        followed._renderer.close()
        followed.decoders.close()


@pytest.fixture
def interview(tmp_path: Path) -> Path:
    path = tmp_path / "talked.yaml"
    path.write_text(INTERVIEW_STUDY)
    return path


def test_an_interview_is_led_from_another_computer(share: Share, interview: Path) -> None:
    shared = share(study=interview)
    shared.opened.give_consent("A Name")
    anna = shared.join()
    shared.run(lambda: shared.reached(anna))
    with closing(anna.follow()) as followed:
        told: list[int] = []
        followed.listen(lambda: told.append(followed.state.index))
        assert followed.part is not None
        assert followed.part.id == "interview-1"
        taken = len(anna.all(wire.Rows))

        def catch_up() -> bool:
            nonlocal taken
            all_came = not anna.link.waiting and shared.reached(anna)
            for message in anna.all(wire.Rows)[taken:]:
                followed.take(message)
                taken += 1
            return all_came

        for command in (AskQuestion(2), AskQuestion(1), GivePrompt("Please think aloud")):
            followed.send(command, Source.MODERATOR)
        shared.run(catch_up)
        assert followed.state.part_state.asked == (2, 1)
        assert followed.state == shared.runner.state
        assert [each["text"] for each in shared.payloads("interview.question_asked")] == [
            "What was hard?", "What did you look for?",
        ]  # fmt: skip
        followed.send(Pause("a phone"))
        shared.run(catch_up)
        assert followed.state.pauses.paused
        followed.send(Resume("on"))
        followed.send(EndInterview())
        shared.run(catch_up)
        assert followed.part.id == "debrief"
        assert followed.state == shared.runner.state
        assert told


def test_what_a_console_shows_besides_comes_from_the_session(share: Share) -> None:
    shared = share()
    anna = shared.join()
    shared.run(lambda: bool(anna.all(wire.Now)))
    followed = anna.follow()
    assert followed.level() is None
    now = anna.all(wire.Now)[-1]
    followed.take(now)
    assert followed.free_bytes() == now.free_bytes
    assert followed.saved_ago_s == now.saved_ago_s
    assert followed.streams is None
    assert not followed.streams_received
    level = wire.Level("heard", -3.0, -20.5, 0.0, 48000, 0, 48000, None, (0.1, 0.2), "")
    followed.take(wire.Now(level, 1.5, None, True))
    assert followed.level() == Level("heard", -3.0, -20.5, 0.0, 48000, 0, 48000, None, (0.1, 0.2))
    assert (followed.saved_ago_s, followed.free_bytes()) == (1.5, None)
    assert followed.streams_received
    assert followed.sound == shared.runner.sound
    assert followed.name == "P01"
    assert followed.planned.participant == shared.opened.planned.participant == "P01"
    followed.close()
    assert anna.over is not None
    assert anna.over.reason == "left"


def test_alarms_and_blinding_are_followed(share: Share) -> None:
    shared = share(blind=True)
    anna = shared.join()
    assert anna.all(wire.Welcome)[0].blind
    shared.runner.emit(AlarmRaised(STALLED, "the disk does not respond"))
    shared.run(lambda: shared.reached(anna))
    with closing(anna.follow()) as followed:
        assert followed.stalled
        assert followed.state.blind
        seen: list[Event] = []
        followed.subscribe(seen.append)
        before = len(anna.all(wire.Rows))
        shared.runner.emit(AlarmCleared(STALLED))
        shared.runner.emit(BlindingSet(False))
        shared.run(lambda: shared.reached(anna))
        for message in anna.all(wire.Rows)[before:]:
            followed.take(message)
        assert not followed.stalled
        kinds = [event.kind for event in seen if event.kind != "remote.clock"]
        assert kinds[-2:] == ["alarm.cleared", "blinding.set"]
        assert seen == shared.events[-len(seen) :]


def test_what_cannot_be_shown_here_is_named(share: Share) -> None:
    shared = share()
    anna = shared.join()
    rows = anna.rows

    def follow(rows: list[wire.Row], folder: Path) -> None:
        FollowedSession(anna.link, folder, rows, lambda function: function())

    with pytest.raises(RecordError, match="no plan"):
        follow(rows[1:], anna.folder)
    with pytest.raises(RecordError, match="no copy of its study file"):
        follow(rows, anna.folder / "elsewhere")
    unknown = (*rows[1][:5], "of.another.version", *rows[1][6:])
    with pytest.raises(RecordError, match=r"event 2 \(of\.another\.version\)"):
        follow([rows[0], unknown], anna.folder)
    other = rows[0][10].replace('"part":"tutorial"', '"part":"juggling"')
    with pytest.raises(RecordError, match="'juggling'"):
        follow([(*rows[0][:10], other)], anna.folder)


def test_a_skip_from_afar_is_of_the_part_that_was_seen(share: Share) -> None:
    shared = share()
    anna = shared.join()
    shared.opened.give_consent("A Name")
    index = shared.runner.state.index
    anna.link.ask(SkipStage(index - 1))
    shared.run(lambda: not anna.link.waiting)
    assert shared.runner.state.pending is None
    anna.link.ask(SkipStage(index))
    shared.run(lambda: not anna.link.waiting)
    assert shared.runner.state.pending is not None
