"""Events: what is read, and looks at screens."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import subprocess
import sys
import types
import typing
from hashlib import sha256
from typing import Annotated, Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.record.events import (
    GENESIS,
    Event,
    Payload,
    describe,
    payload_of,
    registered_kinds,
    registry,
    row_hash,
)
from labapp.record.events.lifecycle import PageTurned, PartStarted
from labapp.record.events.look import Look, ScreenEnlarged, ScreenScrolled, WindowShown
from labapp.record.events.registry import (
    Hertz,
    Identifying,
    Word,
    Written,
    hints,
    kept_fields,
    kind,
    migration,
    payload_text,
    personal_fields,
    remarks,
)
from tests.helpers.nightly import EVERYTHING

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
    ),
    max_leaves=5,
)


def strategy(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type; whole numbers within its bounds."""
    if hint is Any:
        return VALUES
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated and arguments[0] is int:
        return st.integers(arguments[1].ge, arguments[1].le)
    if origin is typing.Annotated:
        return strategy(arguments[0])
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return st.lists(strategy(arguments[0]), max_size=3).map(tuple)
        return st.tuples(*(strategy(argument) for argument in arguments))
    if origin is dict:
        return st.dictionaries(st.text(max_size=3), strategy(arguments[1]), max_size=3)
    if arguments:
        return st.one_of(*(st.none() if a is type(None) else strategy(a) for a in arguments))
    plain: dict[Any, st.SearchStrategy[Any]] = {
        int: st.integers(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        str: st.text(max_size=10),
        bool: st.booleans(),
    }
    return plain[hint]


def payloads_of(cls: type[Payload]) -> st.SearchStrategy[Payload]:
    return st.builds(cls, **{name: strategy(hint) for name, hint in hints(cls).items()})


def plain(cls: type[Payload]) -> Payload:
    """A payload of the simplest values."""
    return cls(**{name: _plain(hint) for name, hint in hints(cls).items()})


def _plain(hint: Any) -> Any:
    if type(None) in typing.get_args(hint):
        return None
    if typing.get_origin(hint) is typing.Annotated:
        least = hint.__metadata__[0].ge
        return _plain(hint.__origin__) if least is None else max(1, least)
    made = {str: "x", int: 1, float: 0.5, bool: True}
    return made.get(hint, {} if typing.get_origin(hint) is dict else ())


def stored(payload: Payload, /, **changes: Any) -> Event:
    fields = json.loads(payload_text(payload.as_dict()))
    values: dict[str, Any] = {
        "v": payload.version,
        "kind": payload.kind,
        "payload": fields,
    } | changes
    return Event(
        7,
        1,
        5,
        "2026-01-02T03:04:05.000000Z",
        "system",
        part_id=None,
        trial=None,
        attempt=None,
        **values,
    )


def test_a_new_process_knows_every_kind() -> None:
    """Nothing else imports the modules that register them."""
    code = "from labapp.record.events.registry import find_kind, registered_kinds\n"
    code += (
        "assert find_kind('trial.ended') and find_kind('lsl.opened'); print(*registered_kinds())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own = {name for name, cls in registered_kinds().items() if cls.__module__.startswith("labapp.")}
    assert set(done.stdout.split()) == own


@pytest.mark.parametrize("name", registered_kinds())
def test_every_kind_comes_back_as_it_was_stored(name: str) -> None:
    cls = registered_kinds()[name]

    @settings(max_examples=30 if EVERYTHING else 4)
    @given(payloads_of(cls))
    def check(payload: Payload) -> None:
        assert payload_of(stored(payload)) == payload

    check()


def test_every_kind_is_described() -> None:
    rows = {row["kind"]: row for row in describe()}
    assert list(rows) == sorted(registered_kinds())
    for row in rows.values():
        assert row["meaning"].endswith("."), row
        assert not row["meaning"].startswith(registered_kinds()[row["kind"]].__name__ + "("), row
    assert rows["dial.moved"]["fields"] == {
        "z_seq": "int",
        "dimension": "int",
        "value": "float",
        "device": "str",
    }


def test_a_field_under_another_name_is_told() -> None:
    """Of every kind: as many fields as there should be are not yet the right ones."""
    for name, cls in registered_kinds().items():
        event = stored(plain(cls))
        for field in cls.__struct_fields__:
            payload = {key: value for key, value in event.payload.items() if key != field}
            payload["other_name"] = event.payload.get(field)
            with pytest.raises(ValueError, match=rf"\({name}\).*other_name"):
                payload_of(event._replace(payload=payload))


def test_screens_wait_for_what_must_not_be_lost() -> None:
    for name in (
        "consent.given",
        "response.changed",
        "questionnaire.submitted",
        "trial.solved",
        "trial.ended",
        "part.ended",
        "page.turned",
        "session.planned",
        "note.added",
    ):
        assert registered_kinds()[name].durable, name
    for name in ("dial.moved", "picture.decoded", "audio.block", "window.focus"):
        assert not registered_kinds()[name].durable, name


def test_what_cannot_be_read_is_told() -> None:
    payload = registered_kinds()["note.added"]("hm", 5)  # type: ignore[call-arg]
    for changes, said in (
        ({"kind": "note.burnt"}, "unknown kind 'note.burnt'"),
        ({"v": 9}, "version 9 is newer"),
        ({"payload": {"text": "hm"}}, "typing_began_ns"),
        ({"payload": {"text": "hm", "typing_began_ns": 1, "colour": "red"}}, "colour"),
    ):
        with pytest.raises(ValueError, match=said):
            payload_of(stored(payload, **changes))


def test_many_payloads_are_those_of_each_event_and_a_wrong_one_is_named() -> None:
    note, paused = registered_kinds()["note.added"], registered_kinds()["session.paused"]
    events = [
        stored(note("a", 5)),  # type: ignore[call-arg]
        stored(paused("rest")),  # type: ignore[call-arg]
        stored(note("b", 6)),  # type: ignore[call-arg]
    ]
    assert registry.payloads_of(events) == [payload_of(event) for event in events]
    wrong = events[2]._replace(seq=9, payload={"text": 5, "typing_began_ns": 6})
    with pytest.raises(ValueError, match=r"event 9 \(note\.added\)"):
        registry.payloads_of([*events, wrong])


WRONG: dict[Any, tuple[Any, ...]] = {
    str: (None, 5, ["x"]),
    int: (None, "5", 5.0, True, [5], 10**30),
    float: (None, "5", True, [5.0], 10**400),
    bool: (None, 0, "true"),
}


def test_a_field_of_another_type_is_named() -> None:
    """Of every field of every kind, also within lists and objects."""
    for name, cls in registered_kinds().items():
        payload = plain(cls)
        for field, hint in typing.get_type_hints(cls).items():
            if field not in payload.as_dict() or hint is Any:
                continue
            arguments = [one for one in typing.get_args(hint) if one is not type(None)]
            inner = arguments[0] if type(None) in typing.get_args(hint) else hint
            objects = () if typing.get_origin(hint) is dict else ({"x": ...},)
            wrong = WRONG.get(inner, (5, "x", [[[[None]]]], *objects))
            for value in wrong:
                if value is None and types.NoneType in typing.get_args(hint):
                    continue
                if value == 10**30 and hints(cls)[field] is int:  # a seed is as large as one likes
                    continue
                fields = {**payload.as_dict(), field: value}
                with pytest.raises(ValueError, match=rf"event 7 \({name}\): its {field} is "):
                    payload_of(Event(*stored(payload)[:10], fields))


@pytest.mark.parametrize(
    ("name", "fields", "field"),
    [
        ("dial.moved", {"z_seq": 1, "dimension": -1, "value": 0.5, "device": "x"}, "dimension"),
        ("audio.started", {"nominal_rate": 0}, "nominal_rate"),
        ("trial.drawn", {"z_start": [0.5, "x"], "z_target": [0.5, 1]}, "z_start"),
        ("stimuli.kept", {"files": {"a": 1}}, "files"),
        ("question.drawn", {"bounds": [[1.0]]}, "bounds"),
    ],
)
def test_what_is_out_of_range_or_wrong_within_is_named(
    name: str, fields: dict[str, Any], field: str
) -> None:
    payload = plain(registered_kinds()[name])
    event = stored(payload, payload=payload.as_dict() | fields)
    with pytest.raises(ValueError, match=f"its {field} is "):
        payload_of(event)


def test_older_versions_are_migrated_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_KINDS", dict(registered_kinds()))
    monkeypatch.setattr(registry, "_MIGRATIONS", {})

    @kind("test.measured", version=3)
    class Measured(Payload):
        """A length in m."""

        metres: float
        device: str

    @migration("test.measured", 1)
    def _unit(payload: dict[str, Any]) -> dict[str, Any]:
        return {"metres": payload["millimetres"] / 1000}

    @migration("test.measured", 2)
    def _device(payload: dict[str, Any]) -> dict[str, Any]:
        return {**payload, "device": "unknown"}

    now = Measured(1.5, "tape")
    assert payload_of(stored(now)) == now
    old = {"millimetres": 1500}
    assert payload_of(stored(now, v=1, payload=old)) == Measured(1.5, "unknown")
    assert old == {"millimetres": 1500}, "the stored payload is left as it is"
    assert payload_of(stored(now, v=2, payload={"metres": 2.0})) == Measured(2.0, "unknown")
    with pytest.raises(ValueError, match="defined twice"):
        kind("test.measured")(type("Again", (Payload,), {}))


@pytest.fixture
def own_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds that a test defines are known in that test alone."""
    monkeypatch.setattr(registry, "_KINDS", dict(registered_kinds()))


@dataclasses.dataclass(frozen=True)
class Moved(Payload):
    """What kinds of a package have in common."""

    page: int
    share: float


class Named(Payload):
    """What others have in common, which no dataclass says again."""

    label: str


@pytest.mark.usefixtures("own_kinds")
def test_a_package_writes_its_payloads_as_dataclasses() -> None:
    @kind("test.turned")
    class Turned(Moved, Named):
        written = ("label",)

        label: str
        tags: tuple[str, ...] = ()
        values: dict[str, Any] = dataclasses.field(default_factory=dict)

        def __post_init__(self) -> None:
            if not self.label:
                raise ValueError("a label is needed")

        def as_dict(self) -> dict[str, Any]:
            return super().as_dict() | {"tags": sorted(self.tags)}

    turned = Turned(-1, 0.5, "x", ("b", "a"))  # type: ignore[call-arg]
    assert Turned.__struct_fields__ == ("page", "share", "label", "tags", "values")
    assert turned.as_dict()["tags"] == ["a", "b"]
    assert (turned.values, turned.written) == ({}, ("label",))
    assert payload_of(stored(turned)) == Turned(-1, 0.5, "x", ("a", "b"))  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="a label is needed"):
        payload_of(stored(turned, payload={"page": 1, "share": 1, "label": ""}))
    with pytest.raises(AttributeError):
        turned.label = "y"  # type: ignore[misc]
    changed = dataclasses.replace(turned, page=2)
    assert (changed.page, changed.label) == (2, "x")
    assert [field.name for field in dataclasses.fields(turned)] == [*Turned.__struct_fields__]

    @kind("test.turned_back")
    class TurnedBack(Turned):
        why: str = ""

    back = TurnedBack(1, 0.5, "x", why="lost")  # type: ignore[call-arg]
    assert payload_of(stored(back)) == back
    assert isinstance(back, Moved)
    assert isinstance(back, Turned)
    assert back != turned


@pytest.mark.usefixtures("own_kinds")
def test_a_whole_number_of_a_package_has_the_bounds_of_its_annotation() -> None:
    @kind("test.counted")
    class Counted(Payload):
        page: int
        index: Annotated[int, msgspec.Meta(ge=1, le=9)] | None

    large = Counted(-(2**70), None)
    assert payload_of(stored(large)) == large
    said = "its index is 10; a whole number from 1 to 9 or null is needed"
    with pytest.raises(ValueError, match=said):
        payload_of(stored(Counted(0, 10)))
    (row,) = (row for row in describe() if row["kind"] == "test.counted")
    assert row["fields"] == {"page": "int", "index": "int | None"}


@pytest.mark.usefixtures("own_kinds")
def test_a_field_says_its_unit_its_bounds_and_its_privacy() -> None:
    @kind("test.heard")
    class Heard(Payload):
        rate: Hertz
        names: tuple[Word, ...] | None
        said: Written
        link: Identifying
        other: str

    known = hints(Heard)
    assert kept_fields(Heard) == {"names"}
    assert personal_fields(Heard) == {"said", "link"}
    assert remarks(known["rate"]) == "from 1, to 1000000, unit Hz"
    assert remarks(known["names"]) == "privacy kept"
    assert remarks(known["other"]) == ""


@pytest.mark.usefixtures("own_kinds")
def test_a_mark_is_in_a_lane_that_a_timeline_has() -> None:
    assert registered_kinds()["note.added"].lane == "notes"
    with pytest.raises(ValueError, match="'alarm', which is not a lane"):
        kind("test.rang", lane="alarm")(Payload)


def test_numbers_of_numpy_become_numbers() -> None:
    solved = registered_kinds()["skip.offered"](np.float64(1.5))  # type: ignore[call-arg]
    live = stored(solved, payload=solved.as_dict())
    assert type(payload_of(live).as_dict()["active_s"]) is float


def test_payloads_are_stored_copied_and_pickled() -> None:
    for cls in registered_kinds().values():
        payload = plain(cls)
        assert pickle.loads(pickle.dumps(payload)) == copy.deepcopy(payload) == payload
        assert payload_of(stored(payload)) == payload


def test_rows_hash_as_they_always_did() -> None:
    """Frozen: a journal of today must verify for ever."""
    event = Event(
        1,
        1,
        12,
        "2026-01-02T03:04:05.000000Z",
        "participant",
        "label.edited",
        1,
        "stage-1",
        2,
        1,
        {},
    )
    text = payload_text({"text": "größe", "dimension": 0, "x": [1.5, None]})
    assert text == '{"dimension":0,"text":"größe","x":[1.5,null]}'
    row = (
        '[1,1,12,"2026-01-02T03:04:05.000000Z","participant","label.edited",1,"stage-1",2,1]' + text
    )
    first = row_hash(GENESIS, event, text)
    assert first == "13f9215f9cf66bc0c49d47f64101099a1d764ae96fe092cad5d5b7c84c564f28"
    assert first == sha256((GENESIS + row).encode()).hexdigest()
    assert row_hash(first, event, text) != first
    assert event.key == ("stage-1", 2, 1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_only_json_is_stored(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        payload_text({"x": value})


@given(
    whole=st.lists(st.integers(0, 2**62), min_size=6, max_size=6),
    texts=st.lists(st.text(), min_size=4, max_size=4),
    nowhere=st.booleans(),
)
def test_the_hashed_head_of_a_row_is_what_json_says(
    whole: list[int], texts: list[str], nowhere: bool
) -> None:
    seq, segment, t_ns, v, trial, attempt = whole
    utc, source, kind, stage = texts
    where = (None, None, None) if nowhere else (stage, trial, attempt)
    stamps = (seq, segment, t_ns, utc, source, kind, v, *where)
    said = json.dumps(list(stamps), separators=(",", ":"), ensure_ascii=False)
    hashed = sha256((GENESIS + said + utc).encode()).hexdigest()
    assert row_hash(GENESIS, (*stamps, "more"), utc) == hashed


@pytest.mark.parametrize("stamp", [2**64, -(2**70), 1.0, True, None])
def test_of_a_damaged_journal_what_is_no_text_and_no_number_of_64_bits_is_hashed(
    stamp: object,
) -> None:
    row = [1, 1, stamp, "2026", "participant", "x", 1, None, None, None]
    said = json.dumps(row, separators=(",", ":"))
    assert (
        row_hash(GENESIS, tuple(row), "{}") == sha256(f"{GENESIS}{said}{{}}".encode()).hexdigest()
    )


SHARES = st.floats(0, 1)

LOOKS = st.builds(
    Look,
    st.builds(
        WindowShown,
        st.integers(900, 4000),
        st.integers(560, 2500),
        st.sampled_from((1.0, 1.5, 2.0)),
        st.just("DP-1"),
        st.just(3840),
        st.just(2160),
    ),
    st.integers(0, 4),
    st.booleans(),
    st.lists(st.integers(0, 900), max_size=4).map(tuple),
    st.builds(ScreenEnlarged, st.integers(-2, 20), SHARES, SHARES, st.floats(0, 4)),
)


@given(LOOKS, LOOKS)
def test_every_look_can_be_told(before: Look, after: Look) -> None:
    told = 0
    while (payload := before.toward(after)) is not None:
        before, told = before.after(payload), told + 1
        assert told <= 3 + 4, "an event for the window, the page, the picture, and each area"
    assert before == after


@given(LOOKS)
def test_a_page_begins_at_its_top_and_a_part_with_its_first_page(look: Look) -> None:
    assert look.after(PageTurned(1)) == Look(look.window, look.page)
    assert look.after(PartStarted(3)) == Look(look.window)


def test_what_is_not_scrolled_is_not_told() -> None:
    assert Look(scrolled=(0, 0)) == Look()
    assert Look().after(ScreenScrolled(2, 40)).scrolled == (0, 0, 40)
    assert Look().after(ScreenScrolled(2, 40)).after(ScreenScrolled(2, 0)) == Look()
