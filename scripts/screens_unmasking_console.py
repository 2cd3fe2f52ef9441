"""The moderator's console and home while pictures are unmasked, for screenshots.py."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from labapp.base.clock import NS
from labapp.record.events.commands import GiveConsent, Next, Pause
from labapp.session.runner import Runner
from labapp.study import loading, planner
from labapp.study.loading import LoadedStudy
from labapp.tasks.unmasking.events import Respond, StimulusPainted
from labapp.tasks.unmasking.plan import DONT_KNOW, StimulusTrial, UnmaskingPart, UnmaskingState
from labapp.ui.moderator.checklist import StudyChoice
from labapp.ui.moderator.home import HomeWindow
from scripts.screens_moderator import MODERATOR, Desk, Shot, desk_of, on_screen, ready_home
from tests.helpers import unmasking

BLANK_MS = 500


def shots(folder: Path) -> Iterator[Shot]:
    yield from console(folder / "small", small(folder / "small-study"))
    yield from blind(folder / "blind", small(folder / "blind-study"))
    yield from home(small(folder / "home-study"))
    yield from shipped(folder / "shipped")


def small(folder: Path) -> Path:
    """A study of a small set in two blocks with a break between them."""
    paths = unmasking.made(folder)
    return unmasking.write_unmasking_study(
        folder / "study",
        paths,
        masks={"smallest": 5, "largest": 60, "count": 10},
        breaks={"every": 4, "text": "rest.md"},
        blank_ms=BLANK_MS,
    )


def console(folder: Path, study: Path, name: str = "") -> Iterator[Shot]:
    """From the example to the second block; name: goes into those of the pictures."""
    with desk_of(folder, study) as desk:
        runner = desk.runner
        go_on(desk)
        answer(desk, 4)
        yield f"u41{name}-console-example", desk.settled()
        answer(desk, 6)
        go_on(desk)
        part = runner.part
        assert isinstance(part, UnmaskingPart)
        answer(desk, 26)
        yield f"u42{name}-console-blank", desk.settled()
        paint(runner, desk)
        yield f"u43{name}-console", desk.settled()
        desk.console.timeline.view.zoom(4)
        yield f"u44{name}-console-zoomed", desk.settled()
        desk.console.timeline.view.show_all()
        runner.send(Pause("break"), MODERATOR)
        desk.clock.advance(20)
        yield f"u45{name}-console-paused", desk.settled()
        desk.console.header.press_pause()
        answer(desk, part.trials - 26)
        yield f"u46{name}-console-between-blocks", desk.settled()
        go_on(desk)
        answer(desk, part.trials // 2 + 3)
        paint(runner, desk)
        yield f"u47{name}-console-late", desk.settled()


def blind(folder: Path, study: Path) -> Iterator[Shot]:
    with desk_of(folder, study, blind=True) as desk:
        go_on(desk)
        answer(desk, 10)
        go_on(desk)
        answer(desk, 5)
        paint(desk.runner, desk)
        yield "u51-console-blind", desk.settled()


def home(study: Path, other: str = "quickstart") -> Iterator[Shot]:
    """other: what the home is of before this study is chosen."""
    window = ready_home(other)
    loaded = loading.load(study)
    show(window, loaded, study)
    yield "u61-home", on_screen(window)
    window.view.tabs[2].click()
    yield "u62-home-study", window
    window.close()


def shipped(folder: Path, study: str = "unmasking-faces") -> Iterator[Shot]:
    """The published study, late in its 300 pictures."""
    with desk_of(folder, study) as desk:
        desk.talk(20)
        desk.runner.send(GiveConsent())
        go_on(desk)
        yield "u71-shipped-console-example", desk.settled()
        answer(desk, 10)
        go_on(desk)
        answer(desk, 246)
        paint(desk.runner, desk)
        yield "u72-shipped-console", desk.settled()
        answer(desk, 3)
        paint(desk.runner, desk)
        yield "u73-shipped-console-more-shown", desk.settled()
    window = ready_home()
    loaded = loading.load(study)
    show(window, loaded, loaded.path)
    yield "u74-shipped-home", on_screen(window)
    window.view.tabs[2].click()
    yield "u75-shipped-home-study", window
    window.close()


def show(window: HomeWindow, loaded: LoadedStudy, study: Path) -> None:
    """The home with this study chosen."""
    plan = planner.realise(loaded, "P07", space_of=no_model)
    view = window.view
    view.session.set_studies([StudyChoice(str(study), loaded.study.title)], str(study))
    view.set_study(loaded.study)
    view.set_plan(plan.parts)


def no_model(model: str) -> NoReturn:
    raise AssertionError(f"the study has no model {model}")


def go_on(desk: Desk) -> None:
    """Go through the texts before the next pictures."""
    runner = desk.runner
    while not isinstance(runner.part, UnmaskingPart):
        desk.talk(8)
        runner.send(Next())


def trial_of(runner: Runner) -> StimulusTrial:
    state = runner.state.part_state
    assert isinstance(state, UnmaskingState)
    assert state.trial is not None
    return state.trial


def paint(runner: Runner, desk: Desk) -> None:
    """The next picture is on the screen."""
    desk.clock.set_ns(max(desk.clock.now_ns(), trial_of(runner).due_ns))
    runner.send(StimulusPainted(desk.clock.now_ns(), "flush", 16.7))


def answer(desk: Desk, pictures: int) -> None:
    """Answer so many pictures as somebody might: unsure first, mostly right later."""
    runner, drawn = desk.runner, random.Random(5)
    for _ in range(pictures):
        part = runner.part
        assert isinstance(part, UnmaskingPart)
        paint(runner, desk)
        sequence, mask = part.stimulus(*part.at(trial_of(runner).number))
        desk.clock.set_ns(desk.clock.now_ns() + round((0.5 + drawn.random()) * NS))
        response = DONT_KNOW
        if drawn.random() * 40 < mask.percent:
            wrong = drawn.random() < 0.2
            names = [button.of for button in part.buttons]
            right = names.index(sequence.truth)
            response = (1 - right if wrong else right) + 1
        runner.send(Respond(response, "key", desk.clock.now_ns(), "event"))
        desk.console.refresh()
