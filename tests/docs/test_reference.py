"""The reference of the documentation names all that there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from labapp.analysis.analyze import dictionary
from labapp.cli.main import command_tree
from labapp.record.events import registered_kinds
from labapp.study import loading
from labapp.study.authoring import schema_of
from labapp.study.plugins import texts
from labapp.study.plugins.registry import task_files
from scripts import docs_reference


@cache
def page(name: str) -> str:
    return docs_reference.MAKERS[name]()


def section(content: str, heading: str) -> str:
    """What stands below a heading, up to the next one of its rank."""
    rank = heading.lstrip().partition(" ")[0] if heading.startswith("#") else "##"
    _, _, behind = content.partition(f"{heading}\n")
    return re.split(rf"(?m)^#{{1,{len(rank)}}} ", behind)[0]


def rows(part: str) -> list[str]:
    """The first cells of the tables in it."""
    return re.findall(r"(?m)^\| `([^`]+)`", part)


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("study", "study"),
        ("instrument", "instrument"),
        ("stimulus-set", "stimuli"),
        ("codebook", "codebook"),
    ],
)
def test_every_key_is_named_with_its_meaning(name: str, document: str) -> None:
    schema = schema_of(document)
    objects = {schema["title"]: schema, **schema["$defs"]}
    for title, described in objects.items():
        if "properties" in described:
            part = section(page(name), f" {{ #{title.lower()} }}")
            assert rows(part) == list(described["properties"]), title
            assert not re.findall(r"(?m)^\| `\w+` \| <br>", part), title


def test_every_table_and_column_is_named() -> None:
    for table, columns in dictionary().groupby("table", sort=False):
        assert rows(section(page("tables"), f"## {table}")) == list(columns["column"])
    for files in task_files():
        named = rows(section(page("tables"), f"### {files.name}"))
        columns = {column.name for column in (*files.event_columns, *files.more_columns)}
        assert columns | set(files.types) <= set(named)


def test_every_event_and_its_fields_are_named() -> None:
    for kind, payload in registered_kinds().items():
        if payload.__module__.startswith("labapp."):
            part = section(page("events"), f"### {kind}")
            assert rows(part) == list(payload.__struct_fields__), kind


@pytest.mark.parametrize("name", sorted(docs_reference.MAKERS))
def test_every_entry_says_what_it_is(name: str) -> None:
    """The first cell names it, the second one says what it is. The page has the title by which
    docs/reference/README.md leads to it."""
    titles = {uri: heading for heading, uri in docs_reference.headings().items()}
    assert page(name).startswith(f"# {titles[f'reference/{name}.md']}\n")
    entries = re.findall(r"(?m)^\| (`[^|]*`|[^|`]+) \| ([^|]*) \|", page(name))
    assert len(entries) > 10
    assert [entry for entry, meaning in entries if not meaning.strip()] == []


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield name, command
    for sub, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {sub}")


def test_every_command_and_option_is_named() -> None:
    for name, command in commands(command_tree(), "labapp"):
        if name == "labapp":
            continue
        rank = "##" if name.count(" ") == 1 else "###"
        part = section(page("commands"), f"{rank} {name}")
        assert part, name
        for parameter in command.params:
            written = parameter.name.upper()
            names = [written] if parameter.param_type_name == "argument" else parameter.opts
            assert [word for word in names if f"`{word}`" not in part] == [], name


def test_every_placeholder_of_the_shipped_texts_is_named() -> None:
    named = set(re.findall(r"`\{(\w+)\}`", page("placeholders")))
    for path in loading.list_shipped():
        loaded = loading.load(path.stem)
        for name, content in loaded.files.items():
            if name.endswith(".md"):
                unnamed = set(texts.names(content.decode())) - named
                assert not unnamed, name


def test_every_key_of_the_replay_is_named() -> None:
    from labapp.ui.replay.transport import ACTIONS

    named = [action for actions in ACTIONS.values() for action in actions]
    assert rows(page("keys")) == named


def test_the_python_api_has_all_that_is_public() -> None:
    from labapp import testing
    from labapp.public import OFFERED
    from scripts import docs_api

    content = page("python")
    offered = [f"labapp.{name}" for name in OFFERED]
    tested = [f"labapp.testing.{name}" for name in testing.__all__]
    for name in (*offered, *tested):
        part = re.split(r"(?m)^#{2,3} ", content.partition(f"### `{name}`\n")[2])[0]
        assert len(part.split()) > 10, name
    recipes = dict(docs_api.imported())
    assert len(recipes) > 40
    assert set(recipes) <= set(rows(section(content, "## What the recipes import")))
    assert content.count(docs_api.WITHOUT_WORDS) < len(recipes) / 8


def test_the_names_of_the_python_api_are_there() -> None:
    from importlib import import_module

    from scripts import docs_api

    for name in dict(docs_api.imported()):
        module, _, last = name.rpartition(".")
        assert hasattr(import_module(module), last), name
