"""What a study file may say. `labapp studies schema` prints these models as a JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from labapp.base.documents import LANGUAGE, SLUG, Language, Path_, Strict, faults_at, refuse_again
from labapp.base.naming import LABEL, NO_PHASE, SIMULATED, NotReserved, find_name_problem
from labapp.study import allocation, conditions
from labapp.study.conditions import Assignment, ByNumber, Cells, Name
from labapp.study.design import (
    MODEL,
    SESSION,
    AnalysisPlan,
    Declared,
    Design,
    ExcludeRule,
    Hypothesis,
    Label,
    Missing,
)
from labapp.study.flow import FlowItem, items_of, list_interrupts, rules_in_words, walk_items
from labapp.study.inclusion import Incentive, Inclusion
from labapp.study.partial import INCOMPLETE
from labapp.study.plugins.item import FlowOf
from labapp.study.quotas import Quota

Presentation = Literal["as_published", "improved"]
Interrupted = Literal["resume", "restart_stage", "block"]


def _number_in(pattern: str, label: str) -> int | None:
    """The number that `pattern` makes `label` of; the pattern may hold digits of its own."""
    if not LABEL.fullmatch(label):
        return None
    for run in re.finditer(r"[0-9]+", label):
        for start in range(run.start(), run.end()):
            for end in range(run.end(), start, -1):
                number = int(label[start:end])
                if pattern.format(number) == label:
                    return number
    return None


def _some_phase(phase: str) -> str:
    if phase in (NO_PHASE, SIMULATED):
        raise ValueError(f"another name, because {phase!r} has a special meaning")
    return phase


PILOT = "pilot"
"""Before the label of a pilot's participant."""

StudyId = Annotated[str, Field(pattern=SLUG, max_length=80), NotReserved]
Phase = Annotated[str, Field(pattern=SLUG, max_length=40), AfterValidator(_some_phase)]
PATTERN = re.compile(r"[A-Za-z0-9]{0,30}\{(0?(:0?[0-9]{0,2}d?)?)\}[A-Za-z0-9]{0,30}")
"""A format of one number of at most 99 digits. Others can do what no label needs: `{:0900000000d}`
writes a gigabyte."""


class Participants(Strict):
    """How participants are named.

    Attributes
    ----------
    pattern : the labels of participants, with the number in braces: `P{:02d}` for P01, P02 …,
        `kid{}` for kid1, kid2 …
    """

    pattern: str = "P{:02d}"

    @field_validator("pattern")
    @classmethod
    def _makes_labels(cls, pattern: str) -> str:
        numbers = (1, 2, 10, 99, 100)
        if not PATTERN.fullmatch(pattern):
            raise ValueError("a Python format for one number, for example 'P{:02d}'")
        try:
            labels = [pattern.format(number) for number in numbers]
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            raise ValueError("a Python format for one number, for example 'P{:02d}'") from error
        read = [_number_in(pattern, label) for label in labels]
        if not all(LABEL.fullmatch(label) for label in labels) or read != list(numbers):
            raise ValueError("letters and digits that include the number, like P01")
        if why := next(
            filter(None, map(find_name_problem, (pattern.format(n) for n in range(10)))), ""
        ):
            raise ValueError(f"another pattern: {why}")
        return pattern

    def label(self, number: int) -> str:
        return self.pattern.format(number)

    def number(self, label: str) -> int | None:
        """The number in a label, also a pilot's, or None for a label of another form."""
        own = self.own_number(label)
        return self.own_number(label.removeprefix(PILOT)) if own is None else own

    def own_number(self, label: str) -> int | None:
        """The number in a label of the study's own, which no pilot gets; None for another form."""
        return _number_in(self.pattern, label)

    def next_free(self, taken: Iterable[str], *, pilot: bool = False) -> str:
        """The label after the highest one that is taken. pilot: that of a pilot, which no
        participant of the study ever gets, so that the session can be moved into the study."""
        before = PILOT if pilot else ""
        own = (label.removeprefix(before) for label in taken if label.startswith(before))
        numbers = [number for label in own if (number := self.own_number(label)) is not None]
        return f"{before}{self.label(max(numbers, default=0) + 1)}"


GERMAN_PROMPTS = ("Bitte sprechen Sie weiter",)
GERMAN_FLAGS = {1: "Einsicht", 2: "Aufforderung", 3: "Verwirrung", 4: "Technik"}


def _with_single_prompt(schema: dict[str, Any]) -> None:
    """The key that stands for a single prompt is no field; prompts may be there by language."""
    schema["properties"]["prompt"] = {
        "type": "string",
        "description": "A single prompt, instead of `prompts`.",
    }
    prompts = schema["properties"]["prompts"]
    listed = {key: prompts.pop(key) for key in ("items", "maxItems", "minItems", "type")}
    by_language = {"type": "object", "additionalProperties": listed}
    prompts["anyOf"] = [listed, by_language]


class Recording(Strict):
    """What is recorded of a session.

    Attributes
    ----------
    audio : whether sound is recorded. `required`: no session runs without it; `optional`: a session
        may run without it; `off`: never, and the consent form does not ask about it.
    silence_prompt_s : after this many seconds of silence, the moderator is asked to prompt.
    prompts : what the moderator says then, the usual prompt first (for a single one: `prompt:
        TEXT`); in a study in several `languages`, a list for each language.
    pointer : whether the path of the participant's pointer is recorded, 30 times a second while it
        moves.
    in_breaks : whether sound is recorded in breaks and pauses. `record`: recording continues;
        `stop`: the recorder stops, and begins another file afterwards. Participants see which
        applies.
    lsl : whether events are sent to other devices of the lab over the Lab Streaming Layer, which is
        unencrypted and visible on the local network. `required`: no session runs without it;
        `optional`: a session may run without it; `off`: nothing is sent.
    """

    model_config = ConfigDict(json_schema_extra=_with_single_prompt)

    audio: Literal["required", "optional", "off"] = "optional"
    silence_prompt_s: float = Field(default=15.0, gt=0, le=600)
    prompts: tuple[str, ...] = Field(default=("Please keep talking",), min_length=1, max_length=9)
    pointer: bool = False
    in_breaks: Literal["record", "stop"] = "record"
    lsl: Literal["required", "optional", "off"] = "off"

    @model_validator(mode="before")
    @classmethod
    def _single_prompt(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and "prompt" in fields and "prompts" not in fields:
            rest = {key: value for key, value in fields.items() if key != "prompt"}
            return {**rest, "prompts": (fields["prompt"],)}
        return fields

    @field_validator(
        "audio",
        "lsl",
        mode="before",
        json_schema_input_type=Literal["required", "optional", "off", False],
    )
    @classmethod
    def _off_in_yaml(cls, setting: Any) -> Any:
        """YAML reads a bare off as false."""
        return "off" if setting is False else setting


class Replicates(Strict):
    """The published study that this one repeats: its numbers are shown next to ours.

    Attributes
    ----------
    paper : the paper, as in "paper 000".
    study : the study in that paper.
    run : whether people took part on their own over the internet (`crowd`) or in a lab (`lab`).
        In labapp everyone is in a lab, and the report notes any difference.
    """

    paper: str = Field(min_length=1)
    study: StudyId
    run: Literal["crowd", "lab"]


Line = Annotated[str, Field(min_length=1, max_length=120)]
ChecklistItem = Line | Annotated[dict[Language, Line], Field(min_length=1)]
"""A line of the study's own checklist, in the language that it is written in, or by language."""


class Study(Strict):
    """A study: who takes part, what is recorded and what happens in which order.

    Attributes
    ----------
    id : the study's name in folders and files: lower-case letters, digits and hyphens. Sessions
        with the same id belong together.
    title : what people read on the home page and in the report.
    summary : one line about the study, for the list on the home page.
    minutes : about how long a session takes, for the list on the home page; leave it out if you do
        not know yet.
    version : a whole number from 1. Increase it when the study changes; old sessions keep their
        version.
    phase : the phase of the study, such as `pilot` or `main`. Each session records it. Phases are
        analysed separately and have places of their own.
    language : the language of the participant's screens and texts: `en`, `de`, or another one with
        texts (`labapp studies texts NAME --missing`).
    presentation : `improved`: with corrections since the papers (the practice asks only what was
        explained); `as_published`: exactly as in the papers.
    replicates : the published study that this study repeats.
    seed : the seed of every random choice; the same seed and participant give the same session.
    participants : how participants are named.
    recording : what is recorded of a session.
    assignment : who gets which condition: variables by participant number (`odd`, `even`) or at
        random (`cells`). `design` is the newer way.
    related : ids of related studies: a person can take part in only one of them. It is enough if
        one study lists the other.
    inclusion : which sessions count in the analysis.
    incentive : the payment, and the text that explains it.
    when_interrupted : how a session continues after a crash. `resume`: at the last event;
        `restart_stage`: at the beginning of the stage; `block`: not at all.
    stalls : how to treat time during which the computer froze for more than a second. `leave-out`:
        it counts in no duration or time limit; `keep`: it counts; `repeat-question`: it does not
        count, and the question is asked again. A masked picture is always shown again, except with
        `keep`. Time during which the computer slept never counts.
    flags : what the moderator can mark with the keys 1 to 9, by key.
    flow : what happens, in this order; the first item is the consent and the last is the debrief.
    languages : For a study in several languages, instead of `language`: participants choose one of
        them at the start. The first is the study's own, in which it is reported.
    fallback_language : The language of texts that are missing in the study's own language, such as
        `en`, for a study that is still being translated. Participants then read both.
    words : The study's own files of words for the participant's screens, such as
        `texts/{language}/participant.yaml` (default: those of labapp).
    unnamed_texts : Where to find texts that items show without naming them (in a tutorial, or
        before a stage). `own`: in the study's folder, like all others; `shipped`: those that come
        with labapp.
    checklist : What the lab prepares before each session, such as `door sign`: lines that the
        moderator ticks on the home. Each is a text, or a text by language, as in `{en: door sign,
        de: Türschild}`.
    design : The factors of the study, and how participants are assigned to them. Replaces
        `assignment` and the `order` of stages.
    exclude : Rules, under names of your own, that say which participants are excluded from the
        analysis.
    labels : Labels of outcomes, factors, levels, models, items, options, rules of exclusion,
        quotas, tasks and methods in reports, figures and plans: `{completion_rate: Solved, hint:
        Hint, "with": With hint, too_old: Older than 65}`, each a text or a text by language.
        Without a label, rules and quotas are described in words.
    quotas : Quotas, under names of your own: how many participants of a kind the study takes.
    missing : How missing answers and questions are treated.
    analysis : Outcomes, contrasts and corrections of the analysis.
    hypotheses : The hypotheses, for the preregistration.
    """

    id: StudyId
    title: str = Field(min_length=1)
    summary: str = Field(default="", max_length=160)
    minutes: int | None = Field(default=None, ge=1, le=1000)
    version: int = Field(ge=1, lt=2**31)
    phase: Phase | None = None
    language: str = Field(default="en", pattern=LANGUAGE)
    languages: tuple[Language, ...] = Field(default=(), max_length=20)
    fallback_language: str | None = Field(default=None, pattern=LANGUAGE)
    words: tuple[str, ...] = Field(default=(), max_length=50)
    unnamed_texts: Literal["own", "shipped"] = "own"
    presentation: Presentation = "improved"
    replicates: Replicates | None = None
    seed: int = Field(default=0, ge=0, lt=2**63)
    participants: Participants = Participants()
    recording: Recording = Recording()
    assignment: Assignment = Field(default_factory=dict)
    related: tuple[StudyId, ...] = ()
    inclusion: Inclusion = Inclusion()
    incentive: Incentive | None = None
    when_interrupted: Interrupted = "resume"
    stalls: Literal["leave-out", "keep", "repeat-question"] = "leave-out"
    checklist: tuple[ChecklistItem, ...] = Field(default=(), max_length=20)
    flags: dict[int, str] = Field(
        default={1: "insight", 2: "prompt", 3: "confusion", 4: "technical"}
    )
    flow: tuple[FlowItem, ...] = Field(min_length=1, max_length=300)
    design: Design | None = None
    exclude: dict[Name, ExcludeRule] = Field(default_factory=dict, max_length=100)
    labels: dict[str, Label] = Field(default_factory=dict, max_length=500)
    quotas: dict[Name, Quota] = Field(default_factory=dict, max_length=50)
    missing: Missing = Missing()
    analysis: AnalysisPlan = AnalysisPlan()
    hypotheses: tuple[Hypothesis, ...] = Field(default=(), max_length=100)

    def checklist_in(self, language: str) -> list[str]:
        """The lines of the study's own checklist, in a language; in English, or the first there is,
        where a line has it in others only."""
        return [
            item
            if isinstance(item, str)
            else item.get(language) or item.get("en") or next(iter(item.values()))
            for item in self.checklist
        ]

    @property
    def own_language(self) -> str:
        """The language in which the study is reported. `language` is the one that participants
        read, which differs from it in some sessions of a study in several languages."""
        return self.languages[0] if self.languages else self.language

    @property
    def declared(self) -> dict[str, Any]:
        """What the file says of design, exclusion and analysis, as plain values for the first
        event; empty if it says nothing of it."""
        fields = self.model_dump(
            mode="json", include=set(Declared.model_fields), exclude_unset=True
        )
        if self.design is not None and MODEL in self.design.within:
            fields["models"] = list(allocation.models_met(self))
        fields["adaptive"] = [list(words) for words in dict.fromkeys(rules_in_words(self.flow))]
        fields["interrupts"] = [
            each.model_dump(mode="json", exclude_none=True) for each in list_interrupts(self.flow)
        ]
        return {key: value for key, value in fields.items() if value}

    @property
    def quota_limits(self) -> dict[str, int]:
        """By quota how many participants it allows."""
        sizes = None if self.design is None else self.design.sizes
        return {name: quota.limit(sizes) for name, quota in self.quotas.items()}

    @property
    def first_session(self) -> str:
        """The label of a participant's first session, where nobody says another."""
        return str(self.design.sessions[0]) if self.design and self.design.sessions else "1"

    @property
    def factor_levels(self) -> dict[str, tuple[str, ...]]:
        """By factor of the design its levels as texts; () where only the sessions tell them."""
        if self.design is None:
            levels = conditions.values_of(self.assignment, inside=True)
            groups = (item.task_stages() for item in items_of(self.flow))
            named = (name for group in groups if group is not None for name in group.compared())
            models = tuple(dict.fromkeys(named))
            if any(conditions.VARIABLE.search(model) for model in models):
                models = ()  # they depend on the participant
            return {
                MODEL: models,
                **{name: tuple(map(str, values)) for name, values in levels.items()},
            }
        told = {
            **self.design.between,
            **self.design.within_levels,
            **dict.fromkeys(self.design.measured),
        }
        if self.design.sessions:
            told[SESSION] = self.design.sessions
        return {
            name: tuple(map(str, levels or ())) if name != MODEL else allocation.models_met(self)
            for name, levels in told.items()
        }

    @model_validator(mode="before")
    @classmethod
    def _in_its_language(cls, fields: Any) -> Any:
        """The first of several languages is the study's own, unless one was chosen. Prompts that
        are there by language are those of the language that participants read. A German study that
        names no prompts or flags has German ones; flags are the same in every language."""
        if not isinstance(fields, dict):
            return fields
        several = fields.get("languages")
        several = several if isinstance(several, list | tuple) else ()
        language = str(fields.get("language", several[0] if several else ""))
        own = str(several[0]) if several else language
        if several:
            fields = {**fields, "language": language}
        recording = fields.get("recording", {})
        if isinstance(recording, dict):
            prompts = recording.get("prompts")
            if isinstance(prompts, dict) and several:
                if lacking := [str(other) for other in several if other not in prompts]:
                    what = (
                        f"has no prompts in {lacking[0]!r}; allowed: prompts in each of `languages`"
                    )
                    raise faults_at({("recording", "prompts"): what})
                fields = {**fields, "recording": {**recording, "prompts": prompts[language]}}
            elif not {"prompt", "prompts"} & recording.keys() and language.startswith("de"):
                fields = {**fields, "recording": {**recording, "prompts": GERMAN_PROMPTS}}
        return {"flags": GERMAN_FLAGS, **fields} if own.startswith("de") else fields

    @field_validator("languages")
    @classmethod
    def _several(cls, languages: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        refuse_again(list(languages))
        if len(languages) == 1:
            raise ValueError("at least two languages; for a single language, use `language`")
        language = info.data.get("language")
        if languages and language is not None and language not in languages:
            raise ValueError(f"languages that include {language!r}")
        return languages

    @field_validator("flags")
    @classmethod
    def _one_digit(cls, flags: dict[int, str]) -> dict[int, str]:
        if wrong := [number for number in flags if not 1 <= number <= 9]:
            raise ValueError(f"flags numbered 1 to 9; {wrong[0]} is not")
        return flags

    @field_validator("related")
    @classmethod
    def _others(cls, related: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.data.get("id") in related:
            raise ValueError(f"other studies; {info.data['id']!r} is this study")
        return related

    @field_validator("flow")
    @classmethod
    def _fits(cls, flow: tuple[FlowItem, ...], info: ValidationInfo) -> tuple[FlowItem, ...]:
        """Refuse items that do not fit where they stand, each with its place."""
        wrong: list[tuple[Path_, str]] = []
        for index, item in enumerate(flow):
            if item.first_only and index:
                wrong.append(((index,), f"{item.key} once, as the first item"))
            if item.last_only and index + 1 < len(flow):
                wrong.append(((index,), f"{item.key} once, as the last item"))
        whole = not (info.context or {}).get(INCOMPLETE)
        language = info.data.get("language")
        languages = info.data.get("languages") or ((language,) if language else ())
        study = FlowOf(tuple(items_of(flow)), languages, info.data.get("recording"), whole)
        for place, item in walk_items(flow):
            wrong += [(place[1:], problem) for problem in item.problems(study)]
        if wrong:
            told: dict[Path_, str] = {}
            for place, what in wrong:
                told[place] = f"{told[place]}, and {what}" if place in told else what
            raise faults_at(
                {at: f"not possible here; allowed: {what}" for at, what in told.items()}
            )
        return flow

    @field_validator("assignment")
    @classmethod
    def _names(cls, assignment: dict[str, ByNumber | Cells]) -> dict[str, ByNumber | Cells]:
        conditions.check(assignment)
        return assignment
