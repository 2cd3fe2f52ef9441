"""Sentences of lower layers keep their code and values, and nothing else passes for one."""

from __future__ import annotations

import json
import pickle
from string import Formatter

from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base import messages
from labapp.base.messages import Message, coded, decoded, form
from tests.helpers.nightly import EVERYTHING

IDS = {key if isinstance(key, str) else key[0] for key in messages.catalogue("en").texts()}
CODES = sorted(key.removeprefix("message.") for key in IDS if key.startswith("message."))
VALUES = st.one_of(st.text(), st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6))


def names(form: str) -> list[str]:
    return [name for _, name, *_ in Formatter().parse(form) if name]


@given(data=st.data())
def test_a_message_comes_back_from_what_is_stored(data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(CODES))
    n = data.draw(st.integers(-(10**6), 10**6))
    values = {name: data.draw(VALUES) for name in names(form(code, {"n": n}))}
    message = Message(code, **values | ({"n": n} if "n" in values else {}))
    outer = Message("microphone_lost", reason=message)
    for each in (message, outer):
        back = decoded(str(each), json.loads(json.dumps(coded(each))))
        assert isinstance(back, Message)
        assert (back, back.code, back.values) == (each, each.code, each.values)
        again = pickle.loads(pickle.dumps(each))
        assert (again, again.values) == (each, each.values)


NAMES = st.sampled_from(["code", "values", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["code", "values", "x"]), inner)
    ),
)


@settings(max_examples=100 if EVERYTHING else 12)
@given(text=st.text(), stored=JSON)
def test_whatever_is_stored_the_text_stays(text: str, stored: object) -> None:
    assert decoded(text, stored) == text


def test_other_words_or_values_are_not_taken() -> None:
    stored = coded(Message("disk_free", size=2.5, unit="GB"))
    for text, other in (
        ("3 GB free", stored),
        ("2.5 GB free", stored | {"code": "disk_full"}),
        ("2.5 GB free", {"code": "disk_free", "values": {"size": 2.5}}),
        ("2.5 GB free", {}),
    ):
        assert not isinstance(decoded(text, other), Message)
    assert coded("2.5 GB free") == {}


def test_a_message_about_a_number_has_its_plural() -> None:
    assert [Message("project_cases", n=n) for n in (0, 1, 2)] == ["0 cases", "1 case", "2 cases"]
    stored = json.loads(json.dumps(coded(Message("project_cases", n=1))))
    assert decoded("1 case", stored) == Message("project_cases", n=1)
    assert not isinstance(decoded("1 case", stored | {"values": {"n": 2}}), Message)
