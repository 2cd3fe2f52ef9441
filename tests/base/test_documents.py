"""A document is read anew whenever its content differs, and is its reader's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.documents import parse_yaml
from labapp.base.errors import ModelError, StudyError

CONTENT = b"id: one\nparts: [{name: first}, {name: second}]\n"


def test_what_a_reader_changes_is_not_there_for_the_next() -> None:
    first = parse_yaml(Path("a.yaml"), CONTENT).value
    first["parts"][0]["name"] = "changed"
    first["parts"].append("more")
    first["id"] = "other"
    again = parse_yaml(Path("a.yaml"), CONTENT).value
    assert again == {"id": "one", "parts": [{"name": "first"}, {"name": "second"}]}


def test_a_refusal_names_the_file_that_is_read_now_and_is_of_the_kind_asked_for() -> None:
    with pytest.raises(StudyError, match=r"one\.yaml, line 2: the key 'a' is given twice"):
        parse_yaml(Path("one.yaml"), b"a: 1\na: 2\n")
    with pytest.raises(ModelError, match=r"two\.yaml, line 2: the key 'a' is given twice"):
        parse_yaml(Path("two.yaml"), b"a: 1\na: 2\n", ModelError)
