"""The registry of event kinds: name, version, durability, and how to read an older version.

What the fields of events can hold.

A field says it in its annotation, and msgspec checks it wherever an event is read. Here are names
for the whole numbers of labapp's own events, and the words for a value that a field cannot hold.

One row of the journal, and the hash chain that ties the rows together.

How durations are measured: session time without the stretches in which it stands still.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
import orjson
from msgspec import Meta

from labapp.base import discovery

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


GENESIS = "0" * 64
"""The hash before the first row."""


class Source(StrEnum):
    """Who caused an event."""

    PARTICIPANT = "participant"
    MODERATOR = "moderator"
    SYSTEM = "system"
    SIMULATED = "simulated"


@dataclass(slots=True)
class UnstampedEvent:
    """What `decide` returns: a payload and the trial it belongs to, not yet stamped.

    Nobody changes one. It is not frozen because making it would take three times as long.
    """

    payload: Payload
    part_id: str | None = None
    trial: int | None = None
    attempt: int | None = None


class Event(NamedTuple):
    """A stamped event, as the journal has it (without its hash).

    A tuple, because readers make thousands of them: a frozen dataclass takes three times as long.

    seq counts from 1 without holes; t_ns is session time in nanoseconds, never decreasing;
    segment counts the runs of the program on this session from 1; part_id is the id of the
    plan's part (the column `stage`); trial and attempt count from 1.
    """

    seq: int
    segment: int
    t_ns: int
    utc: str
    source: str
    kind: str
    v: int
    part_id: str | None
    trial: int | None
    attempt: int | None
    payload: Mapping[str, Any]

    @property
    def key(self) -> tuple[str | None, int | None, int | None]:
        """The trial key (part_id, trial, attempt)."""
        return self[7:10]


def payload_text(payload: Mapping[str, Any]) -> str:
    """Canonical JSON: sorted keys, no spaces, no NaN, so that equal payloads have equal text.

    Always text that UTF-8 can hold: two halves of a character (surrogates, as some input methods
    hand them over) are joined, and a half alone becomes U+FFFD.
    """
    text = json.dumps(
        payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def row_hash(previous: str, row: Sequence[Any], payload: str) -> str:
    """sha256(previous hash + stamps + payload), hexadecimal.

    row: an event or a stored row, which begin with the ten stamps; these are hashed as a JSON list
    without spaces. payload: the stored text, not re-encoded.
    """
    return hashlib.sha256(
        b"".join((previous.encode(), _stamps(row[:10]), payload.encode()))
    ).hexdigest()


def _stamps(stamps: Sequence[Any]) -> bytes:
    """The ten stamps as JSON text. By orjson: every reader does this for every row, and json takes
    twenty times as long; a test holds that both write the same."""
    try:
        return orjson.dumps(stamps)
    except TypeError:  # of a damaged journal: no text, or a whole number beyond 64 bits
        return json.dumps(stamps, separators=(",", ":"), ensure_ascii=False).encode()


Hold = Literal["pause", "skip", "leave", "end"]
"""What time stands still for: a pause, a break or the gap after a crash; a skip that can be taken
back; the question whether the participant wants to leave; the end, until it is undone."""

OPENS: Mapping[str, Hold] = {
    "session.paused": "pause",
    "segment.started": "pause",
    "skip.requested": "skip",
    "close.requested": "leave",
    "session.completed": "end",
    "session.ended": "end",
}
CLOSES: Mapping[str, Hold] = {
    "session.resumed": "pause",
    "skip.taken_back": "skip",
    "skip.confirmed": "skip",
    "close.withdrawn": "leave",
    "session.reopened": "end",
}
VOIDS = frozenset(
    {"session.paused", "session.resumed", "segment.started", "session.completed", "session.ended"}
)
"""The kinds that put an end to a skip that could still be taken back, and to the question whether
to leave: what the moderator does, or a crash, comes before both."""
STALLED = "program.stalled"
KINDS = frozenset({*OPENS, *CLOSES, STALLED})
"""The kinds of events that `Pauses` looks at; others may be left out."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """A fold over the journal that maps session time to working time.

    Working time stands still while anything holds it; a stretch that several things hold is left
    out once.

    Attributes
    ----------
    total_ns : closed stretches so far.
    open_since_ns : session time from which time stands still now.
    holds : what it stands still for.
    until_ns : session time at which the last closed stretch ended.
    """

    total_ns: int = 0
    open_since_ns: int | None = None
    holds: frozenset[Hold] = frozenset()
    until_ns: int = 0

    @property
    def held(self) -> bool:
        """Whether time stands still, whatever for."""
        return bool(self.holds)

    @property
    def paused(self) -> bool:
        """Whether the session waits for the moderator, or rests in a break."""
        return "pause" in self.holds

    @property
    def leaving(self) -> bool:
        """Whether the participant is asked whether to leave."""
        return "leave" in self.holds

    def apply(self, event: Event) -> Pauses:
        """Take in one event; events must come in the journal's order."""
        if event.kind not in KINDS:
            return self
        if event.kind == STALLED:
            return self._add_stall(event)
        holds = self._after(event)
        if holds == self.holds:
            return self
        if self.open_since_ns is None:
            gap_from = event.payload.get("gap_from_ns")
            since = event.t_ns if gap_from is None else int(gap_from)
            return replace(self, open_since_ns=since, holds=holds)
        if holds:
            return replace(self, holds=holds)
        return Pauses(self.total_ns + event.t_ns - self.open_since_ns, until_ns=event.t_ns)

    def _add_stall(self, event: Event) -> Pauses:
        """A stall is over when its event reports it: no participant could do anything during it."""
        begins = max(int(event.payload["from_ns"]), self.until_ns)
        ends = int(event.payload["from_ns"]) + int(event.payload["duration_ns"])
        if not event.payload.get("left_out") or self.held or ends <= begins:
            return self
        return Pauses(self.total_ns + ends - begins, until_ns=ends)

    def stretch_since(self, before: Pauses) -> tuple[int, int] | None:
        """The stretch that an event closed, of which `before` is the state; in session time."""
        if self.held or self is before:
            return None
        begins = before.open_since_ns
        if begins is None:  # a stall
            begins = self.until_ns - (self.total_ns - before.total_ns)
        return begins, self.until_ns

    def _after(self, event: Event) -> frozenset[Hold]:
        holds = self.holds
        if event.kind in VOIDS:
            holds = holds - {"skip", "leave"}
        if (closed := CLOSES.get(event.kind)) is not None:
            return holds - {closed}
        opened = OPENS[event.kind]
        if opened in ("leave", "end") and event.v < 2:
            return holds  # it had no counterpart then, and time went on
        if event.kind == "segment.started" and event.payload.get("gap_from_ns") is None:
            return holds
        return holds | {opened}

    def working_ns(self, t_ns: int) -> int:
        """Working time at session time t_ns, which must not lie before the last event applied."""
        until = t_ns if self.open_since_ns is None else min(t_ns, self.open_since_ns)
        return until - self.total_ns


class WorkingTime:
    """Working time at any session time of a journal that is already there."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._from = [0]
        self._pauses = [Pauses()]
        for event in events:
            before = self._pauses[-1]
            now = before.apply(event)
            if now is before:
                continue
            closed = now.stretch_since(before)
            if closed is not None and not before.held:  # a stall, which its event tells afterwards
                self._from.append(closed[0])
                self._pauses.append(replace(before, open_since_ns=closed[0]))
            # A gap begins before the event that reports it.
            begins = now.open_since_ns if closed is None else closed[1]
            self._from.append(event.t_ns if begins is None else begins)
            self._pauses.append(now)

    def working_ns(self, t_ns: int) -> int:
        """Working time in ns at session time t_ns."""
        return self._pauses[bisect_right(self._from, t_ns) - 1].working_ns(t_ns)


Migration = Callable[[dict[str, Any]], dict[str, Any]]


class Payload:
    """Base of the event payloads. A concrete payload is a class with annotated fields, of which
    `@kind` makes a frozen `msgspec.Struct`; this module has names for fields with bounds, units,
    and texts that de-identified copies keep.

    Attributes
    ----------
    frequent, of_trial, begins, lane : see `kind`.
    unchecked : of a trial, with nothing in it that `misfit` looks up.
    written : names of fields with what a person wrote, of classes that do not annotate them with
        `labapp.record.events.registry.Written`; no de-identified copy keeps it.
    sparse : names of fields that are left out of the journal where they are empty.
    """

    kind: ClassVar[str]
    version: ClassVar[int]
    durable: ClassVar[bool]
    frequent: ClassVar[bool]
    of_trial: ClassVar[bool]
    begins: ClassVar[frozenset[str]]
    lane: ClassVar[str]
    unchecked: ClassVar[bool]
    written: ClassVar[tuple[str, ...]] = ()
    sparse: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:
        __struct_fields__: ClassVar[tuple[str, ...]]

        def __replace__(self, /, **changes: Any) -> Self:
            """The same with other values in some of its fields."""

    def as_dict(self) -> dict[str, Any]:
        """The payload as plain JSON values (tuples become lists when written)."""
        fields = msgspec.structs.asdict(self)  # type: ignore[arg-type] # `kind` makes it a Struct
        for name in self.sparse:
            if not fields[name]:
                del fields[name]
        return fields

    def moved_dial(self) -> tuple[int, float] | None:
        """Which dial the participant moved with it, from 0, and where it stands now; None if it
        is no movement of a dial. A dial is whatever a task has several of to be set, such as
        switches. So replays, coding and streams know movements of any task."""
        return None

    def misfit(self, part: Mapping[str, Any]) -> str:
        """Why there can be no such event in a part of the plan, such as a dial that it lacks; empty
        if there can. part: its row in the plan."""
        return ""


class MessagePayload(Payload):
    """A payload with a text for people.

    Attributes
    ----------
    message : code and values of that text, where it is one of the program's own sentences with
        values in it; left out for any other text.
    """

    message: dict[str, Any]
    sparse: ClassVar[tuple[str, ...]] = ("message",)


LANES = ("prompts", "answers", "flags", "notes", "alarms")
"""The lanes of a replay's timeline that have marks, in its order."""

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
    lane: str = "",
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
    lane : the lane of a replay's timeline in which it has a mark, one of `LANES`; empty for none.
    """

    def register(cls: B) -> B:
        if name in _KINDS:
            raise ValueError(f"event kind {name!r} is defined twice")
        if lane and lane not in LANES:
            raise ValueError(f"event kind {name!r} has its mark in {lane!r}, which is not a lane")
        payload = _KINDS[name] = _struct(
            cls,
            kind=name,
            version=version,
            durable=durable,
            frequent=frequent,
            of_trial=of_trial,
            begins=frozenset(begins),
            lane=lane,
            unchecked=of_trial and not begins and cls.misfit is Payload.misfit,
        )
        return cast(B, payload)

    return register


def _struct(cls: type[Payload], **attributes: Any) -> type[Payload]:
    """The class with its fields as a struct. They are those that a dataclass has: annotations of
    bases that are neither a kind nor a dataclass only say what kinds have in common."""
    derived = issubclass(cls, msgspec.Struct)  # from another kind: it has its fields already
    fields = {} if derived else {field[0]: field for field in _fields(cls)}
    struct = msgspec.defstruct(
        cls.__name__,
        fields.values(),
        # The struct's methods come before those that a dataclass among the bases has.
        bases=(cls,) if derived else (msgspec.Struct, cls),
        namespace={
            "__qualname__": cls.__qualname__,
            "__doc__": cls.__doc__,
            "__dataclass_fields__": _DataclassFields(),
            **attributes,
        },
        module=cls.__module__,
        frozen=True,
        forbid_unknown_fields=True,
    )
    return cast(type[Payload], struct)


class _DataclassFields:
    """Lets the functions of `dataclasses` take payloads: packages of earlier versions may call
    them."""

    def __get__(self, payload: object, cls: type[Payload]) -> dict[str, dataclasses.Field[Any]]:
        made = dataclasses.make_dataclass(cls.__name__, hints(cls).items())
        return cast("type[DataclassInstance]", made).__dataclass_fields__


def _fields(cls: type) -> Iterator[tuple[str, Any, Any]]:
    """Name, type and default of each field, those of dataclasses among the bases first."""
    for base in reversed(cls.__mro__):
        own = base.__dict__.get("__dataclass_fields__", {})
        if own or base is cls:
            types = get_type_hints(base, include_extras=True) if own else {}
            for name, hint in inspect.get_annotations(base).items():
                default = own.get(name) or base.__dict__.get(name, msgspec.NODEFAULT)
                yield name, types.get(name, hint), _default(default)


def _default(default: Any) -> Any:
    """A default as msgspec takes it, also where `dataclasses.field` says it."""
    if not isinstance(default, dataclasses.Field):
        return default
    if default.default_factory is not dataclasses.MISSING:
        return msgspec.field(default_factory=default.default_factory)
    return msgspec.NODEFAULT if default.default is dataclasses.MISSING else default.default


def migration(name: str, from_version: int) -> Callable[[Migration], Migration]:
    """Register how a payload of `from_version` becomes one of the next version."""

    def register(function: Migration) -> Migration:
        _MIGRATIONS[(name, from_version)] = function
        return function

    return register


@cache
def _load_all() -> None:
    # The kinds register on import; readers that start from a journal need all of them.
    for module in iter_modules(import_module("labapp.record.events").__path__):
        import_module(f"labapp.record.events.{module.name}")
    discovery.load_events()


def registered_kinds() -> dict[str, type[Payload]]:
    """Every kind of event by its name, those of other packages too."""
    _load_all()
    discovery.plugins(discovery.TASK_GROUP)  # whose import registers their kinds
    return dict(sorted(_KINDS.items()))


def find_kind(name: str) -> type[Payload] | None:
    """A kind of event by its name; None if neither labapp nor an installed package has it."""
    _load_all()
    if name not in _KINDS:
        discovery.plugins(discovery.TASK_GROUP)  # whose import registers their kinds
    return _KINDS.get(name)


@cache
def frequent_kinds() -> frozenset[str]:
    """The kinds that journals are full of."""
    return frozenset(name for name, cls in registered_kinds().items() if cls.frequent)


@cache
def kinds_of(base: type[Payload]) -> tuple[str, ...]:
    """The kinds whose payloads derive from a base that says what they have in common."""
    return tuple(name for name, cls in registered_kinds().items() if issubclass(cls, base))


def moving_kinds() -> tuple[str, ...]:
    """The kinds that say of a dial that the participant moved it, see `Payload.moved_dial`."""
    moves = Payload.moved_dial
    return tuple(name for name, cls in registered_kinds().items() if cls.moved_dial is not moves)


def payload_of(event: Event) -> Payload:
    """The payload of a stored event, migrated to the current version of its kind.

    Raises ValueError for an unknown kind, a version newer than this program, or wrong fields.
    """
    try:
        return _payload_of(event)
    except RecursionError as error:
        raise ValueError(f"event {event.seq} ({event.kind}): nested too deeply") from error


def payloads_of(events: Sequence[Event]) -> list[Payload]:
    """As `payload_of`, of many: those of a kind are checked in one call."""
    places: dict[tuple[str, int], list[int]] = {}
    for place, event in enumerate(events):
        places.setdefault((event.kind, event.v), []).append(place)
    payloads: list[Payload] = [None] * len(events)  # type: ignore[list-item] # filled below
    for (name, version), some in places.items():
        cls = _KINDS.get(name)
        if cls is not None and version == cls.version and not loose(cls):
            try:
                checked = msgspec.convert([events[place].payload for place in some], list[cls])  # type: ignore[valid-type]
            except (msgspec.ValidationError, RecursionError):
                checked = [payload_of(events[place]) for place in some]  # says which, and why
        else:
            checked = [payload_of(events[place]) for place in some]
        for place, payload in zip(some, checked, strict=True):
            payloads[place] = payload
    return payloads


def _payload_of(event: Event) -> Payload:
    cls = _KINDS.get(event.kind) or find_kind(event.kind)
    if cls is None:
        raise ValueError(f"event {event.seq}: unknown kind {event.kind!r}")
    if event.v > cls.version:
        raise ValueError(
            f"event {event.seq}: {event.kind} version {event.v} is newer than this program's "
            f"{cls.version}"
        )
    stored: Mapping[str, Any] = event.payload
    if event.v < cls.version:
        stored = _migrate_payload(event, cls.version)
    if names := loose(cls):
        stored = {**stored, **{name: tuples(stored[name]) for name in names if name in stored}}
    try:
        return msgspec.convert(stored, cls)
    except msgspec.ValidationError as error:
        mistake = error
    try:  # an event of this session can hold numbers of numpy, which become numbers as it is stored
        return msgspec.convert(json.loads(payload_text(stored)), cls)
    except (msgspec.ValidationError, ValueError, TypeError):
        why = problem(cls, stored) or mistake
    raise ValueError(f"event {event.seq} ({event.kind}): {why}") from mistake


def _migrate_payload(event: Event, version: int) -> Mapping[str, Any]:
    payload = dict(event.payload)
    try:
        for before in range(event.v, version):
            payload = _MIGRATIONS[(event.kind, before)](dict(payload))
    except (LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(
            f"event {event.seq} ({event.kind}): its fields do not match version {event.v}"
        ) from error
    return payload


def describe() -> list[dict[str, Any]]:
    """The vocabulary as rows for the codebook: kind, version, durable, meaning; and of each field
    its type (fields) and its meaning (field_meanings)."""
    from labapp.base import descriptions

    rows = []
    for name, cls in registered_kinds().items():
        described: type = cls
        meanings = descriptions.attributes(described)
        rows.append(
            {
                "kind": name,
                "version": cls.version,
                "durable": cls.durable,
                "meaning": " ".join(descriptions.summary(described).split()),
                "fields": {field: type_text(hint) for field, hint in hints(cls).items()},
                "field_meanings": {
                    field: meanings.get(field, "") for field in cls.__struct_fields__
                },
            }
        )
    return rows


Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""Any whole number of 64 bits, such as a session time in nanoseconds. No table holds a larger."""
Nanoseconds = Annotated[int, Meta(ge=0, le=2**63 - 1, extra={"unit": "ns"})]
"""A duration, or a session time that is not negative."""
Index = Annotated[int, Meta(ge=0, le=2**31 - 1)]
"""A place that counts from 0, or how many there are of something."""
Number = Annotated[int, Meta(ge=1, le=2**31 - 1)]
"""A number that counts from 1."""
Frames = Annotated[int, Meta(ge=0, le=2**32 - 1, extra={"unit": "frames"})]
"""Frames of sound: a WAV file has no more."""
Crc32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
"""A checksum."""
Hertz = Annotated[int, Meta(ge=1, le=1_000_000, extra={"unit": "Hz"})]
"""A sampling rate."""
Channels = Annotated[int, Meta(ge=1, le=64)]
"""Channels of sound."""

KEPT = Meta(extra={"privacy": "kept"})
"""Marks a field whose text de-identified copies keep: the program or the study says it, never a
person. The text of any other field is withheld."""
WRITTEN = Meta(extra={"privacy": "written"})
"""Marks a field with what a person wrote."""
IDENTIFYING = Meta(extra={"privacy": "identifying"})
"""Marks a field with a text of the program's that leads to a person."""
Word = Annotated[str, KEPT]
"""A text of the program's or the study's own, such as an id, a code or the name of an input."""
Written = Annotated[str, WRITTEN]
"""A text that a person wrote."""
Identifying = Annotated[str, IDENTIFYING]
"""A text that leads to a person, such as a link with a participant's id in it."""

_HOLDING = frozenset({list, tuple, dict})
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_WORDS |= {dict: "an object", list: "a list", tuple: "a list", NoneType: "null"}


_HINTS: dict[type, dict[str, Any]] = {}
_LOOSE: dict[type, tuple[str, ...]] = {}


def hints(cls: type[Payload]) -> dict[str, Any]:
    """The types of a kind's fields by name, in their order, with their bounds."""
    if cls not in _HINTS:
        known = get_type_hints(cls, include_extras=True)
        _HINTS[cls] = {name: known[name] for name in cls.__struct_fields__}
    return _HINTS[cls]


def problem(cls: type[Payload], fields: Mapping[str, Any]) -> str:
    """What is wrong with the first field whose value its kind cannot hold, in words; empty if
    all can be held. fields: by name, as they are stored."""
    for name, hint in hints(cls).items():
        try:
            if name in fields:
                msgspec.convert(fields[name], hint)
        except msgspec.ValidationError:
            return f"its {name} is {_short(fields[name])}; {_describe_type(hint)} is needed"
    return ""


def kept_fields(cls: type[Payload]) -> frozenset[str]:
    """The fields whose text de-identified copies keep."""
    return frozenset(name for name, hint in hints(cls).items() if _has_mark(hint, KEPT))


def personal_fields(cls: type[Payload]) -> frozenset[str]:
    """The fields that hold what a person wrote, or that lead to a person."""
    marks = (WRITTEN, IDENTIFYING)
    own = (name for name, hint in hints(cls).items() if any(_has_mark(hint, m) for m in marks))
    return frozenset((*own, *cls.written))


def _has_mark(hint: Any, mark: Meta) -> bool:
    return hint == mark or any(_has_mark(inside, mark) for inside in _inside(hint))


def loose(cls: type[Payload]) -> tuple[str, ...]:
    """The fields that hold values of any type, in which lists become tuples."""
    if cls not in _LOOSE:
        _LOOSE[cls] = tuple(name for name, hint in hints(cls).items() if _holds_any(hint))
    return _LOOSE[cls]


def _holds_any(hint: Any) -> bool:
    return hint in (Any, dict, tuple) or any(map(_holds_any, _inside(hint)))


def tuples(value: Any) -> Any:
    """A value with every list in it as a tuple."""
    # Without a call for each number: a plan has thousands.
    if isinstance(value, list | tuple):
        return tuple([tuples(item) if type(item) in _HOLDING else item for item in value])
    if isinstance(value, dict):
        return {key: tuples(item) for key, item in value.items()}
    return value


def _inside(hint: Any) -> tuple[Any, ...]:
    """The types that a type is made of."""
    return tuple(argument for argument in get_args(hint) if argument is not Ellipsis)


def type_text(hint: Any) -> str:
    """A type without bounds as one writes it, such as `int | None`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return type_text(arguments[0])
    if origin in (Union, UnionType):
        return " | ".join(map(type_text, arguments))
    if isinstance(origin, type):
        return f"{origin.__name__}[{', '.join(map(type_text, arguments))}]"
    names = {NoneType: "None", ...: "..."}
    return names.get(hint) or str(getattr(hint, "__name__", hint))


def remarks(hint: Any) -> str:
    """Unit, bounds and privacy of a field, for people; empty if it has none of them."""
    facts = {}
    if isinstance(hint, Meta):
        facts = {"from": hint.ge, "to": hint.le, **(hint.extra or {})}
    own = (f"{name} {value}" for name, value in facts.items() if value is not None)
    return ", ".join(dict.fromkeys(filter(None, (*own, *map(remarks, _inside(hint))))))


def _describe_type(hint: Any) -> str:
    origin, arguments = get_origin(hint), _inside(hint)
    if origin is Annotated:
        meta = arguments[1]
        words = _describe_type(arguments[0])
        low, high = getattr(meta, "ge", None), getattr(meta, "le", None)
        words += f" from {low}" if low is not None else ""
        return words + (f" to {high}" if high is not None else "")
    if origin in (Union, UnionType):
        return " or ".join(map(_describe_type, arguments))
    if origin is tuple:
        return f"a list ({_describe_type(arguments[0])} each)"
    return _WORDS.get(origin or hint, "another value")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
