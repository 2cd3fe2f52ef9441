"""Sentences of lower layers keep their code and values, and nothing else passes for one."""

from __future__ import annotations

import json
import pickle
from string import Formatter

from hypothesis import given
from hypothesis import strategies as st

from labapp.base.messages import FORMS, Message, coded, decoded

VALUES = st.one_of(st.text(), st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6))


def names(form: str) -> list[str]:
    return [name for _, name, *_ in Formatter().parse(form) if name]


@given(data=st.data())
def test_a_message_comes_back_from_what_is_stored(data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(sorted(FORMS)))
    message = Message(code, **{name: data.draw(VALUES) for name in names(FORMS[code])})
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
