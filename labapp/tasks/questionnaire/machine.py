"""A questionnaire: every change of an answer is an event.

A page, or the questionnaire, can be left only with its required answers; what its conditions leave
out is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from labapp.base.clock import NS
from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Back, Begin, Command, Next, SkipStage
from labapp.record.events.lifecycle import PageTurned, PartEnded, PartStarted
from labapp.record.events.registry import Pauses
from labapp.record.events.trials import (
    CheckAnswered,
    QuestionnaireSubmitted,
    ResponseChanged,
    SoundAction,
    SoundPlayed,
    SoundState,
    TextSoundPlayed,
)
from labapp.study.conditions import as_tuple
from labapp.study.instruments import Instrument, Item, dont_know
from labapp.study.instruments.asking import AskedItems, own_name
from labapp.study.instruments.items import Check, Sound
from labapp.study.plan import QuestionnairePart
from labapp.study.plugins.machine import PartMachine, Value
from labapp.study.when import names

HIDDEN = "…"
"""What is filled into the words of an item for an answer that is withheld."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The last answer to a comprehension check that was judged; attempt: which one, from 1."""

    attempt: int
    passed: bool
    value: Any


SoundKey = tuple[str, str]
"""An item, and the option whose sound it is; empty for the item's own."""


@dataclass(frozen=True, slots=True)
class QuestionnaireState:
    """page counts from 0, pages of which nothing is asked too; earlier: answers in questionnaires
    before this one; skipped: items about stages that were skipped; whole: all is shown, whatever is
    asked, for a preview; judged: by item the comprehension checks that were answered; pauses: of
    the session; sounds: what became of each sound; since_ns: working time at which the page
    came up."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    page: int = 0
    outcome: str | None = None
    earlier: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    skipped: frozenset[str] = frozenset()
    whole: bool = False
    judged: Mapping[str, Judged] = field(default_factory=dict)
    pauses: Pauses = field(default_factory=Pauses)
    sounds: Mapping[SoundKey, SoundState] = field(default_factory=dict)
    since_ns: int = 0


@dataclass(frozen=True, slots=True)
class QuestionnaireTask(PartMachine[QuestionnaireState]):
    """instrument: as in its file; the part's items and their order are taken here; seconds: how
    long a sound or video of its items and options lasts; others: the items of earlier
    questionnaires whose answers are filled into the words of its items, as these name them."""

    part: QuestionnairePart
    index: int
    instrument: Instrument
    seconds: Callable[[Sound], float] = lambda sound: 0.0
    others: Mapping[str, Item] = field(default_factory=dict)

    def __post_init__(self) -> None:
        realised = self.instrument.realise(self.part.items, self.part.values, self.part.orders)
        object.__setattr__(self, "instrument", realised)

    def initial(self, pauses: Pauses) -> QuestionnaireState:
        return QuestionnaireState(pauses=pauses)

    def told(
        self, state: QuestionnaireState, answers: Mapping[str, tuple[Value, ...]]
    ) -> QuestionnaireState:
        """It begins at the first page of which something is asked."""
        items = self.instrument.items
        named = {name for item in items for name in (*names(item.only_if), *item.piped)}
        earlier = {name: values for name, values in answers.items() if name in named}
        state = replace(state, earlier=earlier)
        return replace(state, page=next(iter(self._find_asked_pages(state)), 0))

    def without_stages(
        self, state: QuestionnaireState, skipped: Collection[int]
    ) -> QuestionnaireState:
        if not self.part.drops_skipped:
            return state
        items = frozenset(f"{item}_{number}" for item in self.part.per_stage for number in skipped)
        state = replace(state, skipped=items)
        return replace(state, page=next(iter(self._find_asked_pages(state)), 0))

    def answers(self, state: QuestionnaireState) -> Mapping[str, tuple[Value, ...]]:
        """What was submitted; nothing of a questionnaire that was skipped."""
        if state.outcome != "completed":
            return {}
        ids = self.asked(state).ids
        return {
            own_name(self.instrument.id, name): values if item.id in ids else ()
            for item in self.instrument.items
            for name, values in dont_know.values_of_parts(item, state.answers.get(item.id)).items()
        }

    def asked(self, state: QuestionnaireState) -> AskedItems:
        asked = self.instrument.asked(state.answers, {**self.part.variables, **state.earlier})
        if state.whole:
            return asked._replace(ids=frozenset(item.id for item in self.instrument.items))
        return asked._replace(ids=asked.ids - state.skipped)

    def worded(self, state: QuestionnaireState, item: Item, *, withholds: bool = False) -> Item:
        """An item with the answers filled into its words. withholds: not those that can tell who
        somebody is."""
        if not item.piped:
            return item
        known = self.asked(state).known
        words = {}
        for name in item.piped:
            other = self.others.get(name) or self.instrument.part(name)
            values = as_tuple(known.get(name))
            hidden = withholds and other.withheld
            words[name] = HIDDEN if hidden and values else other.in_words(values)
        return item.with_answers(words)

    def pages_asked(self, state: QuestionnaireState) -> tuple[int, ...]:
        """The pages of which something is asked, from 0, and the one on the screen: an answer
        that comes as the page before it is left can change what is asked on it."""
        return tuple(sorted({state.page, *self._find_asked_pages(state)}))

    def _find_asked_pages(self, state: QuestionnaireState) -> list[int]:
        ids = self.asked(state).ids
        pages = enumerate(self.instrument.pages)
        return [number for number, page in pages if any(item.id in ids for item in page)]

    def missing(self, state: QuestionnaireState, page: int | None = None) -> tuple[Item, ...]:
        """Items that are asked and without whose answer nobody goes on, on one page or on all."""
        ids = self.asked(state).ids
        items = self.instrument.items if page is None else self.instrument.pages[page]
        return tuple(
            item
            for item in items
            if item.id in ids
            and (
                dont_know.is_missing(item, state.answers.get(item.id))
                or (self.is_wrong(state, item) and not self.is_settled(state, item))
            )
        )

    def is_settled(self, state: QuestionnaireState, item: Item) -> bool:
        """Whether a comprehension check was passed, or no attempt is left: its answer stays."""
        judged, check = state.judged.get(item.id), item.comprehension
        if judged is None or check is None:
            return False
        return judged.passed or judged.attempt >= check.attempts

    def sound(self, state: QuestionnaireState, item: str, option: str = "") -> SoundState:
        """What became of the sound of an item, or of an option."""
        return state.sounds.get((item, option), SoundState())

    def awaits_sound(self, state: QuestionnaireState, item: Item) -> bool:
        """Whether an item cannot be answered before its sounds were heard."""
        return any(
            sound.heard and not self.sound(state, item.id, option).heard
            for option, sound in item.sounds.items()
        )

    def is_wrong(self, state: QuestionnaireState, item: Item) -> bool:
        """Whether the current answer was judged as wrong."""
        judged = state.judged.get(item.id)
        return judged is not None and not judged.passed and judged.value == state.answers[item.id]

    def page_count(self) -> int:
        return len(self.instrument.pages)

    def page(self, state: QuestionnaireState) -> int:
        return state.page

    def at_page(self, state: QuestionnaireState, page: int) -> QuestionnaireState:
        """Of a page that is not reached with these answers, all is shown."""
        state = replace(state, page=page, whole=False)
        return replace(state, whole=page not in self._find_asked_pages(state))

    def place(self, state: QuestionnaireState) -> str:
        missing = self.missing(state, state.page)
        items = ", ".join(repr(item.id) for item in missing)
        return f"page {state.page + 1}" + (f": no answer to {items}" if missing else "")

    def wants_begin(self, state: QuestionnaireState) -> bool:
        """A questionnaire of which nothing is asked is over at once."""
        return state.outcome is None and not self.asked(state).ids

    def decide(
        self, state: QuestionnaireState, command: Command, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        stage = self.part.id
        match command:
            case Answer(item, value):
                try:
                    checked = dont_know.check(self.instrument.item(item), value)
                except (KeyError, ValueError):
                    return ()
                if state.answers.get(item) == checked or item not in self.asked(state).ids:
                    return ()
                asked = self.instrument.item(item)
                if self.is_settled(state, asked) or self.awaits_sound(state, asked):
                    return ()
                changed = UnstampedEvent(ResponseChanged(self.instrument.id, item, checked), stage)
                return (changed, *self._advance(state, item, checked, now_ns))
            case PlaySound():
                return self._play(state, command, now_ns)
            case Next():
                behind = [page for page in self.pages_asked(state) if page > state.page]
                if self.missing(state, state.page if behind else None):
                    return ()
                if self.wait_s(state, now_ns) > 0:
                    return ()
                stopped = self._stop_sounds(state, now_ns)
                judged, again = self._judge(state)
                judged = [*stopped, *judged]
                if again is not None:
                    return (*judged, *again)
                if any(self._ends(state, item) for item in self.instrument.items):
                    return (*stopped, *self._submit(state, "check_failed"))
                if behind:
                    return (*judged, UnstampedEvent(PageTurned(behind[0]), stage))
                return (*judged, *self._submit(state))
            case Begin() if self.wants_begin(state):
                return self._submit(state)
            case Back():
                before = [page for page in self.pages_asked(state) if page < state.page]
                turned = [UnstampedEvent(PageTurned(page), stage) for page in before[-1:]]
                return (*self._stop_sounds(state, now_ns), *turned) if turned else ()
            case SkipStage():
                return (UnstampedEvent(PartEnded(self.index, "skipped"), stage),)
        return ()

    def wait_s(self, state: QuestionnaireState, now_ns: int) -> float:
        """For how many seconds the page must still stay."""
        shown_ns = state.pauses.working_ns(now_ns) - state.since_ns
        return max(self.instrument.minimum_s - shown_ns / NS, 0.0)

    def _advance(
        self, state: QuestionnaireState, item: str, value: Any, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        """What follows an answer after which the page is left by itself."""
        after = replace(state, answers={**state.answers, item: value})
        ids = self.asked(after).ids
        page = [each for each in self.instrument.pages[state.page] if each.id in ids]
        answered = all(dont_know.answered(each, after.answers.get(each.id)) for each in page)
        if not self.instrument.advance or not answered:
            return ()
        return self.decide(after, Next(), now_ns)

    def _play(
        self, state: QuestionnaireState, asked: PlaySound, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        """The sound of an item is started, paused, or over; nothing if that cannot be."""
        item = next((item for item in self.instrument.items if item.id == asked.item), None)
        sound = None if item is None else item.sounds.get(asked.option)
        if item is None or sound is None or item.id not in self.asked(state).ids:
            return ()
        now = self.sound(state, item.id, asked.option)
        working, seconds = state.pauses.working_ns(now_ns), self.seconds(sound)
        if (done := now.ask(asked.action, working, seconds, sound.plays)) is None:
            return ()
        played = SoundPlayed(
            self.instrument.id, item.id, asked.action, *done, asked.audible, asked.option
        )
        others = self._stop_sounds(state, now_ns) if asked.action == "play" else []
        return (*others, UnstampedEvent(played, self.part.id))

    def _stop_sounds(self, state: QuestionnaireState, now_ns: int) -> list[UnstampedEvent]:
        """The sounds that play are paused, since the page is left, or another one is played."""
        return [
            event
            for (item, option), sound in state.sounds.items()
            if sound.playing
            for event in self._play(state, PlaySound(item, "pause", option=option), now_ns)
        ]

    def _judge(
        self, state: QuestionnaireState
    ) -> tuple[list[UnstampedEvent], list[UnstampedEvent] | None]:
        """The comprehension checks of the page that are answered and not settled yet, judged; and,
        where an answer is wrong, what happens instead of going on."""
        stage, ids = self.part.id, self.asked(state).ids
        judged: list[UnstampedEvent] = []
        wrong: list[tuple[Check, bool]] = []
        for item in self.instrument.pages[state.page]:
            check = item.comprehension
            if check is None or item.id not in ids or self.is_settled(state, item):
                continue
            before = state.judged.get(item.id)
            attempt = 1 if before is None else before.attempt + 1
            value = state.answers[item.id]
            passed = not dont_know.is_about_knowing(value) and item.is_right(value)
            event = CheckAnswered(self.instrument.id, item.id, attempt, passed)
            judged.append(UnstampedEvent(event, stage))
            if not passed:
                wrong.append((check, attempt < check.attempts))
        if not wrong:
            return judged, None
        first = self.pages_asked(state)[0]
        back = first != state.page and any(check.repeat and left for check, left in wrong)
        return judged, [UnstampedEvent(PageTurned(first), stage)] if back else []

    def _ends(self, state: QuestionnaireState, item: Item) -> bool:
        """Whether the session ends since a comprehension check was failed."""
        judged, check = state.judged.get(item.id), item.comprehension
        if judged is None or check is None or judged.passed:
            return False
        return check.failed == "end" and judged.attempt >= check.attempts

    def _submit(
        self, state: QuestionnaireState, outcome: str = "completed"
    ) -> Sequence[UnstampedEvent]:
        instrument, ids = self.instrument, self.asked(state).ids
        given = instrument.untouched() | instrument.given(state.answers)
        submitted = QuestionnaireSubmitted(
            instrument.id,
            instrument.version,
            {item: value for item, value in given.items() if item in ids},
            tuple(item.id for item in instrument.items if item.id not in ids),
        )
        ended = PartEnded(self.index, outcome)
        return tuple(UnstampedEvent(payload, self.part.id) for payload in (submitted, ended))

    def apply(
        self, state: QuestionnaireState, event: Event, payload: Payload
    ) -> QuestionnaireState:
        state = replace(state, pauses=state.pauses.apply(event))
        match payload:
            case SoundPlayed(item=item, option=option):
                working = state.pauses.working_ns(event.t_ns)
                sound = self.sound(state, item, option).after(payload, working)
                return replace(state, sounds={**state.sounds, (item, option): sound})
            case TextSoundPlayed(action="play"):  # one plays at a time
                working = state.pauses.working_ns(event.t_ns)
                stopped = {key: sound.stopped(working) for key, sound in state.sounds.items()}
                return replace(state, sounds=stopped)
            case ResponseChanged():
                return replace(state, answers={**state.answers, payload.item: payload.value})
            case CheckAnswered():
                value = state.answers.get(payload.item)
                judged = Judged(payload.attempt, payload.passed, value)
                return replace(state, judged={**state.judged, payload.item: judged})
            case PageTurned():
                return replace(
                    state, page=payload.page, since_ns=state.pauses.working_ns(event.t_ns)
                )
            case PartStarted():
                return replace(state, since_ns=state.pauses.working_ns(event.t_ns))
            case PartEnded():
                return replace(state, outcome=payload.outcome)
        return state


@dataclass(frozen=True, slots=True)
class Answer(Command):
    """Answer (or change the answer to) an item of a questionnaire."""

    item: str
    value: Any


@dataclass(frozen=True, slots=True)
class PlaySound(Command):
    """Start the sound of an item or an option or go on with it, pause it, or say that it is over.
    audible: whether a loudspeaker is open."""

    item: str
    action: SoundAction
    audible: bool = True
    option: str = ""
