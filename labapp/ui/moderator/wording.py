"""Times, sizes and outcomes as the moderator reads them.

Also what the windows say about a part: these words fit any part; a task may have its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from labapp.base import discovery
from labapp.base.clock import NS
from labapp.base.messages import decode_message
from labapp.coding.annotations.model import time_text
from labapp.record.audio import devices
from labapp.record.events.commands import Command
from labapp.study.adaptive.counting import Criterion
from labapp.study.adaptive.tracks import Tracking, Tracks
from labapp.study.inclusion import LEFT_OUT
from labapp.study.people import PersonState
from labapp.study.plugins import registry
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart, section_of
from labapp.ui.language import (
    N_,
    N_all,
    Phrases,
    counted,
    number,
    phrases,
    tr,
    tr_known,
    translate_message,
    translate_phrase,
)

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


GAPS = {
    "overflow": N_("gap.slow"),
    "queue": N_("gap.slow"),
    "stalled": N_("gap.stalled"),
    "write_failed": N_("gap.unwritten"),
    "device_lost": N_("gap.microphone"),
    "reopened": N_("gap.reopened"),
}


def detail_of(payload: Mapping[str, Any]) -> str:
    """The text of an event (`detail` or `reason`), translated."""
    text = str(payload.get("detail", payload.get("reason", "")))
    words = translate_message(decode_message(text, payload.get("message")))
    # Earlier versions stored PortAudio's own words.
    return devices.in_words(words, translate_message) if "PaErrorCode" in words else words


def pause_reason(reason: str) -> str:
    """Why a session paused; empty if nobody said."""
    if reason in PAUSE_REASONS:
        return tr(PAUSE_REASONS[reason])
    return "" if reason == PAUSED else translate_message(reason)


def gap(cause: str) -> str:
    """Why sound was lost."""
    return tr_known(cause, GAPS)


STOOD_STILL = N_all("stalled", "program", "computer", "asleep", "recorder")


def describe_stall(payload: Mapping[str, Any]) -> str:
    """Who stood still, and for how long."""
    asleep_ns = int(payload["asleep_ns"])
    lasted_ns = int(payload["duration_ns"]) + asleep_ns
    form = STOOD_STILL["asleep" if asleep_ns else str(payload["who"])]
    short = lasted_ns < 60 * NS
    return tr(form, time=number(f"{lasted_ns / NS:.1f} s") if short else short_time(lasted_ns))


def clock_changed(payload: Mapping[str, Any]) -> str:
    """By how much the computer's clock was set, and what that means."""
    by_s = float(payload["by_s"])
    time = short_time(round(abs(by_s) * NS))
    by = tr("clock.forward", time=time) if by_s > 0 else tr("clock.back", time=time)
    if payload.get("certain", True):
        return tr("clock.certain", by=by)
    return tr("clock.uncertain", by=by)


def alarm_text(kind: str, payload: Mapping[str, Any]) -> str | None:
    """What an event of some kinds means that a timeline marks as an alarm; None for others."""
    match kind:
        case "alarm.raised":
            return detail_of(payload)
        case "audio.device_lost":
            return tr("timeline.microphone_gone")
        case "screen.changed" if payload["change"] == "removed":
            return tr("timeline.screen_gone", name=payload["screen"])
        case "close.requested":
            return tr("timeline.leaving")
        case "session.reopened":
            return tr("timeline.end_taken_back")
        case "program.stalled":
            return describe_stall(payload)
        case "clock.changed":
            return tr("alarm.clock_changed")
    return None


def describe_pause(reason: str) -> str:
    """That a session was paused, and why, where somebody said."""
    why = pause_reason(reason)
    return tr("timeline.paused", reason=why) if why else tr("state.paused")


OUTCOMES = {
    **N_all(
        "outcome",
        *("time_expired", "skipped", "declined", "check_failed", "criterion_missed"),
        *("solved", "marked", "stage_skipped", "judged", "answered", "done", "gave_up"),
    ),
    "completed": N_("outcome.done"),
    LEFT_OUT: N_("outcome.left_out"),
}

PAUSED = "moderator"
"""The reason of a pause for which none was given."""
PAUSE_REASONS = {
    "break": N_("part.break"),
    "technical problem": N_("reason.technical"),
    "participant asks": N_("reason.question"),
}
"""Reasons as they are stored, and as they are read."""
NOT_COUNTED = {
    "completed": N_("not_counted.stage_skipped"),
    "practice_correct": N_("not_counted.practice"),
    "min_solved": N_("not_counted.few_solved"),
    "withdrawn": N_("reason.withdrew"),
    "by_hand": N_("not_counted.by_hand"),
    "sessions": N_("not_counted.few_sessions"),
}
"""Why a session that came to its end does not count in the analysis, by the study's rule."""


def not_counted(rule: str) -> str:
    """Why a session does not count; a rule of the study's own by its name."""
    return tr(NOT_COUNTED[rule]) if rule in NOT_COUNTED else tr("not_counted.rule", rule=rule)


PEOPLE: Mapping[PersonState, str] = {
    "included": N_("people.included"),
    "running": N_("people.running"),
    "awaited": N_("people.awaited"),
    "missed": N_("people.missed"),
    "excluded": N_("people.excluded"),
    "ended": N_("state.ended_early"),
    "withdrawn": N_("people.withdrawn"),
    "declined": N_("outcome.declined"),
    "gone": N_("people.gone"),
}
"""What became of people, as `labapp.study.people` counts them."""


def quota_text(name: str, n: int, limit: int) -> str:
    """How many people fall under a quota, of how many at most."""
    key = N_("people.quota_full") if n >= limit else N_("people.quota")
    return tr(key, name=name, n=n, limit=limit)


def people_text(people: Mapping[PersonState, int]) -> str:
    """How many people took part, such as `7 participants: 5 included, 2 withdrawn`."""
    states = ", ".join(f"{n} {tr(PEOPLE[state])}" for state, n in people.items())
    return counted(sum(people.values()), "people.count", states=states)


WITHDRAWN = {"keep": N_("console.withdrawn_kept"), "delete": N_("console.withdrawn_deleted")}

# As a plan names its parts; questionnaires bring their own titles.
PART_TITLES = {
    "Consent": N_("part.consent"),
    "Payment": N_("part.payment"),
    "Tutorial": N_("part.tutorial"),
    "Before practice": N_("part.before_practice"),
    "Practice": N_("part.practice"),
    "Before stage {number}": N_("part.before_stage"),
    "Stage {number}, block {block}": N_("part.stage_block"),
    "Stage {number}, grid": N_("part.stage_grid"),
    "Stage {number}": N_("part.stage"),
    "Break": N_("part.break"),
    "Text": N_("part.text"),
    "Interview": N_("part.interview"),
    "Survey": N_("part.survey"),
    "Debrief": N_("part.debrief"),
    "Method": N_("part.method"),
    "Warm-up": N_("part.warm_up"),
    "Before the example": N_("part.before_example"),
    "Example": N_("part.example"),
}


def part_title(title: str) -> str:
    """The title of a part of the plan, which the journal keeps in English."""
    return translate_phrase(title, _titles())


@cache
def _titles() -> Phrases:
    return phrases(PART_TITLES, number=range(1, 100), block=range(1, 25))


def milliseconds(t_ns: int) -> str:
    """A reaction time: 812 ms, 12,345 ms."""
    return number(f"{round(t_ns / 1e6):,}\N{NO-BREAK SPACE}ms")


def short_time(t_ns: int) -> str:
    """Minutes and seconds, hours where there are any: 0:07, 23:41, 1:02:40."""
    seconds = max(0, t_ns) // NS
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def minutes_left(planned: int | None, working_ns: int) -> str:
    """What is left of the planned length of a session, or by how much it is over; empty if no
    length is planned."""
    if planned is None:
        return ""
    left = ceil(planned - working_ns / (60 * NS))
    if left >= 0:
        return tr("plan.minutes_left", left=left, all=planned)
    return tr("plan.minutes_over", over=-left, all=planned)


def long_time(t_ns: int) -> str:
    """Always hours, minutes and seconds: 00:23:41."""
    seconds = max(0, t_ns) // NS
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def size(n_bytes: int) -> str:
    """`plain_size` as the language writes it."""
    return number(plain_size(n_bytes))


def plain_size(n_bytes: int) -> str:
    """Decimal units as disks are sold in: 840 MB, 2.4 GB, 212 GB, 1.8 TB."""
    value, unit = float(n_bytes), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 999.5 or unit == "TB":
            break
        value /= 1000
    decimals = 1 if value < 9.95 and unit not in ("B", "kB") else 0
    return f"{value:.{decimals}f} {unit}"


def sound_length(frames: int, rate: int) -> str:
    """Seconds of sound (0 s, 0.4 s, 47.3 s); frames where the rate is not known."""
    if frames and not rate:
        return count(frames, "frame")
    seconds = frames / rate if frames else 0.0
    return number(f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2g} s")


def percent(fraction: float) -> str:
    """63.2 %, with a no-break space."""
    return number(f"{fraction * 100:.1f}\N{NO-BREAK SPACE}%")


def count(n: int, text: str, many: str | None = None) -> str:
    """1 question, 2 questions."""
    return f"{n:,} {text if n == 1 else many or text + 's'}"


def join_names(names: list[str]) -> str:
    """a, b and c."""
    if len(names) == 1:
        return names[0]
    return tr("word.and", first=", ".join(names[:-1]), last=names[-1])


def local_time(utc: str, now: datetime | None = None) -> str:
    """A moment (ISO 8601, UTC) on the clock on the wall: `today 14:02` or `2026-01-02 14:02`.

    A dash where a damaged session does not say when.
    """
    try:
        moment = datetime.fromisoformat(utc).astimezone()
    except (ValueError, OverflowError):
        return "–"
    today = (now or datetime.now(moment.tzinfo)).date()
    day = tr("word.today") if moment.date() == today else moment.date().isoformat()
    return f"{day} {moment:%H:%M}"


P = TypeVar("P", bound=PlannedPart)
MOST = "\N{LESS-THAN OR EQUAL TO}\N{NO-BREAK SPACE}"
"""Before the number of trials of an adaptive part, which may have fewer."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A line next to the participant's screen, for the moderator only.

    Attributes
    ----------
    text
        In the moderator's language.
    role, tone
        How it looks, see the console's style sheet.
    veiled
        Whether a blind moderator does not see it: what is true, what a model predicts, a method.
    """

    text: str
    role: Literal["", "strong", "secondary", "number"] = ""
    tone: Literal["", "good", "alarm"] = ""
    veiled: bool = False


def list_chosen(adaptive: Tracks | None, tracking: Tracking | None) -> Iterator[Fact]:
    """What the rule of an adaptive part chose for the trial on the screen; nothing in others."""
    chosen = None if tracking is None else tracking.chosen
    if adaptive is None or chosen is None:
        return
    if isinstance(adaptive.rule, Criterion):
        right, wanted = int(chosen.state["right"]), adaptive.rule.right
        yield Fact(tr("task.criterion", right=right, wanted=wanted), "secondary")
    else:
        where = {"track": chosen.track, "tracks": len(adaptive.tracks)}
        yield Fact(tr("task.level", level=number(f"{chosen.value:g}"), **where), "secondary")


class PartWords(Generic[P]):
    """Words for the parts of one task, in the moderator's language; see `TaskType.moderator`."""

    def progress(self, part: P, machine: PartMachine[Any], state: Any) -> str:
        """How far the part on the screen is, in a word or two."""
        if part.has_trials:
            trial = machine.trial(state)
            most = MOST if part.chooses else ""
            return f"{1 if trial is None else trial[0]} / {most}{part.trial_count()}"
        if (pages := machine.page_count()) > 1:
            return tr("progress.page", number=machine.page(state) + 1, all=pages)
        return tr("progress.reading")

    def subject(self, part: P) -> str:
        """What a stage is about, such as its model: hidden while the session is blind."""
        return ""

    def detail(self, part: P, *, blind: bool) -> str:
        """What the plan shows next to a part's title."""
        return self.subject(part) if part.measures and not blind else ""

    def facts(self, parts: Sequence[P]) -> str:
        """What is known of a stage before a session, in one line; parts: its blocks."""
        return ""

    def trial(self, part: P, number: int) -> str:
        """A trial in the timeline, as a block of its own or, where `goes_on` joins several, as
        theirs."""
        noun = self.noun(part, number)
        if part.chooses:  # how many there will be follows from the answers
            return noun
        return tr("progress.question_of", question=noun, all=part.trial_count() or number)

    def noun(self, part: P, number: int) -> str:
        """What a trial is called, with its number."""
        return tr("progress.question", number=number)

    def place(self, part: P, machine: PartMachine[Any], state: Any) -> str:
        """Where the participant is, over the mirror."""
        trial = machine.trial(state)
        title = part_title(part.title)
        return title if trial is None else f"{title} · {self.trial(part, trial[0])}"

    def beside(self, part: P, session: SessionView, console: ConsoleState) -> Iterator[Fact]:
        """What a moderator reads beside the participant's screen, from top to bottom.

        session: as the participant's screen has it; console: what the events so far came to.
        """
        progress = self.progress(part, session.task, session.part_state)
        if part.consents:
            yield Fact(tr("progress.consent"))
        elif progress == tr("progress.reading"):
            yield Fact(tr("progress.text"))
        elif progress:
            yield Fact(tr("progress.on_screen", progress=progress))

    fold: ClassVar[str] = ""
    """Where that is which these lines and the widget read of the events so far, as `module:Class`
    of a `labapp.ui.moderator.state.console.Fold`; empty for nothing. `ConsoleState.fold` has it."""
    beside_widget: ClassVar[str] = ""
    """Where a widget is that stands below these lines, as `module:Class` of a
    `labapp.ui.moderator.mirror.Beside`; empty for none."""

    panel: ClassVar[str] = ""
    """Where a widget is that takes the place of the mirror while a part runs, as `module:Class` of
    a `labapp.ui.moderator.mirror.PartPanel`; empty for none. It is for parts that the moderator
    leads."""

    def chords(self, parts: Sequence[P]) -> Mapping[str, Command]:
        """Keys of the moderator, in whichever window, and what each asks of the session.

        parts: all of the plan that are of the task, at least one. Keys are chords with Alt+Shift:
        plain keys are the participant's.
        """
        return {}

    def describe_chord(self, command: Command) -> str:
        """What such a key does, for the console's list of keys."""
        return tr("keys.of_task")

    def goes_on(self, part: P, number: int, outcome: str) -> bool:
        """Whether the block of a trial goes on after it ended so: further trials belong to it."""
        return False

    joins = False
    """Whether several trials are one block."""
    marks: Mapping[str, str] = {}
    """Kinds of events that are marks of the timeline, and which mark each is."""

    def mark(self, part: P, payload: Mapping[str, Any]) -> str:
        """The words of such a mark, an event of the part."""
        raise NotImplementedError

    def moved(self, part: P, numbers: Sequence[int]) -> str:
        """What was moved, by the numbers of `Payload.moved_dial`, from 0, in their order."""
        return tr("task.dial", number=", ".join(str(number + 1) for number in numbers))

    def lanes(self, part: P) -> frozenset[str]:
        """The marks that the timeline names in its legend because of a part."""
        return frozenset()


def title_of(parts: Sequence[PlannedPart], place: int, *, blind: bool) -> str:
    """What a part is called where the whole plan is spoken of: a stage with what it is about, a
    questionnaire with the stage that it asks about."""
    part = parts[place]
    title = part_title(part.title)
    owner = next((each for each in parts if each.id == part.belongs_to()), None)
    if owner is not None:
        return f"{title} · {part_title(owner.title)}"
    detail = words_of(part).detail(part, blind=blind)
    return f"{title} ({detail})" if detail else title


def section_title(parts: Sequence[PlannedPart], place: int, *, blind: bool) -> str:
    """What the section of a part is called: the stage in it, or the part where there is none."""
    section = section_of(parts, place)
    stage = next((each for each in section if parts[each].has_trials), section.start)
    return title_of(parts, stage, blind=blind)


def contents_of(parts: Sequence[PlannedPart], places: Iterable[int], asked: int = 0) -> str:
    """What is left out with some parts, such as “1 text, 7 questions and 2 questionnaires”. asked:
    how many questions of them are over."""
    left = [parts[place] for place in places]
    questions = sum(part.trial_count() for part in left) - asked
    others = [part for part in left if not part.has_trials]
    asks = sum(part.questionnaire() is not None for part in others)
    rests = sum(part.rests for part in others)
    talks = sum(part.talks for part in others)
    counts = (
        (len(others) - asks - rests - talks, N_("progress.texts")),
        (questions, N_("progress.questions")),
        (asks, N_("progress.questionnaires")),
        (rests, N_("progress.breaks")),
        (talks, N_("progress.interviews")),
    )
    told = [counted(n, key) for n, key in counts if n > 0]
    return join_names(told) if told else ""


@cache
def _words(where: str) -> PartWords[Any]:
    return discovery.load(where)() if where else PartWords()


def words_of(part: PlannedPart) -> PartWords[Any]:
    """The words for a part."""
    return _words(registry.task_type_of(part).moderator)


def chords_of(parts: Sequence[PlannedPart]) -> dict[str, tuple[Command, str]]:
    """The keys of the moderator for the parts of a plan: what each sends, and its words."""
    of_task: dict[PartWords[Any], list[PlannedPart]] = {}
    for part in parts:
        of_task.setdefault(words_of(part), []).append(part)
    chords: dict[str, tuple[Command, str]] = {}
    for words, own in of_task.items():
        for key, command in words.chords(own).items():
            chords[key] = command, words.describe_chord(command)
    return chords


@cache
def every_mark() -> dict[str, PartWords[Any]]:
    """By kind of event, who has words for its mark."""
    every = (_words(known.moderator) for known in registry.task_types())
    return {kind: words for words in every for kind in words.marks}


def format_time(t_ns: int, digits: int = 1) -> str:
    """A session time as the language writes it: 12:34.5, or 1:02:03.4."""
    return number(time_text(t_ns, digits))
