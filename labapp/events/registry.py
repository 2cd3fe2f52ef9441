"""The registry of event kinds: name, version, durability, and how to read an older version."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Set
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, dataclass_transform

from labapp import discovery
from labapp.events.event import Event
from labapp.events.types import checker, problem, scalar, tupler, tuples

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Migration = Callable[[dict[str, Any]], dict[str, Any]]


class Payload:
    """Base of the event payloads; a concrete payload is a frozen dataclass made with `@kind`.

    Attributes
    ----------
    plain : the fields of a kind that takes them as they are; None where it checks or changes them.
    holds : whether stored fields hold their types; see `labapp.events.types.checker`.
    tupled : makes stored fields that hold their types those of a payload; None where nothing is to
        be done, for none of them is a list or an object.
    frequent, of_trial, begins : see `kind`.
    unchecked : of a trial, with nothing in it that `misfit` looks up.
    written : names of the fields with what a person wrote; no de-identified copy keeps it.
    """

    kind: ClassVar[str]
    version: ClassVar[int]
    durable: ClassVar[bool]
    plain: ClassVar[Set[str] | None]
    holds: ClassVar[Callable[[Mapping[str, Any]], bool]]
    tupled: ClassVar[Callable[[Mapping[str, Any]], dict[str, Any]] | None]
    frequent: ClassVar[bool]
    of_trial: ClassVar[bool]
    begins: ClassVar[frozenset[str]]
    unchecked: ClassVar[bool]
    written: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def as_dict(self) -> dict[str, Any]:
        """The payload as plain JSON values (tuples become lists when written)."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def moved_dial(self) -> tuple[int, float] | None:
        """Which dial the participant moved with it, from 0, and where it stands now; None where it
        is no movement of a dial. A dial is whatever a task has several of to be set, such as
        switches. So replays, coding and streams know movements of any task."""
        return None

    def misfit(self, part: Mapping[str, Any]) -> str:
        """Why there can be no such event in a part of the plan, such as a dial that it lacks; empty
        where there can. part: its row in the plan."""
        return ""


class MessagePayload(Payload):
    """A payload with a text for people.

    Attributes
    ----------
    message : code and values of that text (see `labapp.messages`), where it is one of the program's
        own sentences with values in it; left out for any other text.
    """

    message: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """As of any payload; without a message where the text has none."""
        fields = super().as_dict()
        if not self.message:
            del fields["message"]
        return fields


B = TypeVar("B", bound=type[Payload])
_KINDS: dict[str, type[Payload]] = {}
_MIGRATIONS: dict[tuple[str, int], Migration] = {}


@dataclass_transform(frozen_default=True)
def kind(
    name: str,
    *,
    version: int = 1,
    durable: bool = False,
    frequent: bool = False,
    of_trial: bool = False,
    begins: tuple[str, ...] = (),
) -> Callable[[B], B]:
    """Class decorator: register a payload under its kind.

    Parameters
    ----------
    durable : the writer commits at once and screens wait for it; otherwise the event is committed
        with the next batch, at most 250 ms later.
    frequent : journals are full of it. It says how a trial was gone through and nothing of the
        session around it.
    of_trial : it is of a trial that was drawn before.
    begins : a trial is drawn with it, in parts of these kinds.
    """

    def register(cls: B) -> B:
        payload = cast(B, dataclasses.dataclass(frozen=True)(cls))
        if name in _KINDS:
            raise ValueError(f"event kind {name!r} is defined twice")
        payload.kind, payload.version, payload.durable = name, version, durable
        payload.plain = (
            None if hasattr(payload, "__post_init__") else frozenset(payload.__dataclass_fields__)
        )
        payload.holds = staticmethod(_when_asked(payload))
        payload.frequent, payload.of_trial, payload.begins = frequent, of_trial, frozenset(begins)
        payload.unchecked = of_trial and not begins and payload.misfit is Payload.misfit
        _KINDS[name] = payload
        return payload

    return register


def _when_asked(cls: type[Payload]) -> Callable[[Mapping[str, Any]], bool]:
    """The check of a kind's fields, made at its first use together with `tupled`.

    All of them would take 20 ms of every start, and a session has few of the kinds.
    """

    def holds(fields: Mapping[str, Any]) -> bool:
        # In this order: another thread may find the check and go on to the other at once.
        cls.tupled = None if scalar(cls) else staticmethod(tupler(cls))
        cls.holds = staticmethod(checker(cls))
        return cls.holds(fields)

    return holds


def migration(name: str, from_version: int) -> Callable[[Migration], Migration]:
    """Register how a payload of `from_version` becomes one of the next version."""

    def register(function: Migration) -> Migration:
        _MIGRATIONS[(name, from_version)] = function
        return function

    return register


@cache
def _load_all() -> None:
    # The kinds register on import; readers that start from a journal need all of them.
    from labapp.events import (  # noqa: F401
        keyboard,
        lifecycle,
        look,
        lsl,
        moderation,
        pointer,
        questionnaires,
        speech,
        stimuli,
        trials,
        undoing,
        voice,
    )

    discovery.load_events()


def registered() -> dict[str, type[Payload]]:
    """Every kind by its name, those of other packages too."""
    _load_all()
    discovery.plugins(discovery.TASK_GROUP)  # whose import registers their kinds
    return dict(sorted(_KINDS.items()))


def known(name: str) -> type[Payload] | None:
    """A kind by its name; None where neither labapp nor an installed package has it."""
    _load_all()
    if name not in _KINDS:
        discovery.plugins(discovery.TASK_GROUP)  # whose import registers their kinds
    return _KINDS.get(name)


@cache
def frequent_kinds() -> frozenset[str]:
    """The kinds that journals are full of."""
    return frozenset(name for name, cls in registered().items() if cls.frequent)


@cache
def kinds_of(base: type[Payload]) -> tuple[str, ...]:
    """The kinds whose payloads derive from a base that says what they have in common."""
    return tuple(name for name, cls in registered().items() if issubclass(cls, base))


def moving_kinds() -> tuple[str, ...]:
    """The kinds that say of a dial that the participant moved it, see `Payload.moved_dial`."""
    moves = Payload.moved_dial
    return tuple(name for name, cls in registered().items() if cls.moved_dial is not moves)


def is_durable(name: str) -> bool:
    """Whether the kind is committed at once."""
    return _KINDS[name].durable


def payload_of(event: Event) -> Payload:
    """The payload of a stored event, migrated to the current version of its kind.

    Raises ValueError for an unknown kind, a version newer than this program, or wrong fields.
    """
    try:
        return _payload_of(event)
    except RecursionError as error:
        raise ValueError(f"event {event.seq} ({event.kind}): nested too deeply") from error


def _payload_of(event: Event) -> Payload:
    cls = _KINDS.get(event.kind) or known(event.kind)
    if cls is None:
        raise ValueError(f"event {event.seq}: unknown kind {event.kind!r}")
    if event.v > cls.version:
        raise ValueError(
            f"event {event.seq}: {event.kind} version {event.v} is newer than this program's "
            f"{cls.version}"
        )
    stored: Mapping[str, Any] = event.payload
    if event.v < cls.version:
        stored = _migrated(event, cls.version)
    try:
        holds = cls.holds(stored)
    except KeyError:  # a field is missing, which may have a default
        holds = False
    if holds and cls.plain is not None and len(stored) == len(cls.plain):
        # What is done below, without a call of object.__setattr__ a field: a journal holds
        # thousands of payloads.
        payload = object.__new__(cls)
        payload.__dict__.update(stored if cls.tupled is None else cls.tupled(stored))
        return payload
    if not holds and (fault := problem(cls, stored)):
        raise ValueError(f"event {event.seq} ({event.kind}): {fault}")
    try:
        return cls(**{name: tuples(field) for name, field in stored.items()})
    except TypeError as error:
        raise ValueError(f"event {event.seq} ({event.kind}): {error}") from error


def _migrated(event: Event, version: int) -> Mapping[str, Any]:
    payload = dict(event.payload)
    try:
        for before in range(event.v, version):
            payload = _MIGRATIONS[(event.kind, before)](dict(payload))
    except (LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(
            f"event {event.seq} ({event.kind}): its fields are not those of version {event.v}"
        ) from error
    return payload


def describe() -> list[dict[str, Any]]:
    """The vocabulary as rows for the codebook: kind, version, durable, meaning; and of each field
    its type (fields) and its meaning (field_meanings)."""
    from labapp import descriptions

    rows = []
    for name, cls in registered().items():
        fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(_as_dataclass(cls))
        meanings = descriptions.attributes(cls)
        rows.append(
            {
                "kind": name,
                "version": cls.version,
                "durable": cls.durable,
                "meaning": " ".join(descriptions.summary(cls).split()),
                "fields": {field.name: str(field.type) for field in fields},
                "field_meanings": {field.name: meanings.get(field.name, "") for field in fields},
            }
        )
    return rows


def _as_dataclass(cls: type[Payload]) -> type[DataclassInstance]:
    return cls
