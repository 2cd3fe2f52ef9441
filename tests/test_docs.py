"""What docs/, README and CONTRIBUTING say is there, and the glossary has every word once.

That the pages can be built, with every link in them leading somewhere, `scripts/docs.sh` holds,
which `make test` runs before the tests.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from labapp.analysis.analyze import dictionary
from labapp.base import discovery
from labapp.cli.main import command_tree
from labapp.record.events import registered_kinds
from labapp.study.plugins.registry import task_files
from labapp.study.schema import Study

ROOT = Path(__file__).resolve().parents[1]
PAGES = (*sorted(ROOT.glob("docs/**/*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md")
FOLDERS = "assets|benchmarks|docs|examples|labapp|models|scripts|tests"
NAME = re.compile(r"(?<![\w./-])labapp(?:\.\w+)+")
PATH = re.compile(rf"`((?:{FOLDERS})/[\w./<>*-]*)(?: [^`]*)?`")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#[^)]*)?\)")
HEADED = re.compile(r"\]\((?!https?:)([^)#\s]*)#([^)]+)\)")
CODE = re.compile(r"```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^|`)labapp((?: [a-z][a-z0-9-]*)+)", re.MULTILINE)


def of_every_page(check: Callable[[Path], None]) -> Callable[[], None]:
    """A test of all pages: one of its own for each would take longer than what it looks at."""

    def test() -> None:
        for page in PAGES:
            try:
                check(page)
            except AssertionError as error:
                error.add_note(f"on {page.relative_to(ROOT)}")
                raise

    return test


@of_every_page
def test_names_on_a_page_are_there(page: Path) -> None:
    named = set(NAME.findall(page.read_text("utf-8")))
    assert not [name for name in sorted(named) if name not in discovery.GROUPS and not there(name)]


@of_every_page
def test_files_on_a_page_are_there(page: Path) -> None:
    content = page.read_text("utf-8")
    paths = [path for path in PATH.findall(content) if "<" not in path]
    assert not [path for path in paths if not list(ROOT.glob(path.rstrip("/")))]
    assert not [
        link for link in LINK.findall(content) if link and not (page.parent / link).exists()
    ]


@of_every_page
def test_commands_on_a_page_are_there(page: Path) -> None:
    code = "\n".join(CODE.findall(page.read_text("utf-8")))
    commands = {words.strip() for words in COMMAND.findall(code)}
    assert not [words for words in sorted(commands) if not is_command(words.split())]


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "adr"
    listed = LINK.findall((folder / "README.md").read_text("utf-8"))
    assert listed == [path.name for path in sorted(folder.glob("0*.md"))]


def test_every_recipe_is_listed_and_followed() -> None:
    names = sorted(path.stem for path in (ROOT / "docs" / "recipes").glob("*.md"))
    listed = LINK.findall((ROOT / "docs" / "README.md").read_text("utf-8"))
    assert sorted(Path(link).stem for link in listed if link.startswith("recipes/")) == names
    tests = "".join(path.read_text("utf-8") for path in ROOT.glob("tests/recipes/test_*.py"))
    assert sorted(re.findall(r'with follow\("([\w-]+)"\)', tests)) == names


def test_the_page_for_developers_has_every_group_of_entry_points() -> None:
    content = (ROOT / "docs" / "guide" / "developers.md").read_text("utf-8")
    assert set(re.findall(r"`(labapp\.\w+)`", content)) == set(discovery.GROUPS)


def places() -> list[str]:
    """The wings and rooms of the table, from the lowest floor to the highest."""
    content = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    return re.findall(r"^\| (?:\*\*)?`labapp\.([\w.]+)`(?:\*\*)? \|", content, re.MULTILINE)


def floors() -> dict[str, int]:
    """The floor of each wing, and of each room in its wing, by the contracts."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    height = {}
    for contract in project["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers":
            (container,) = contract["containers"]
            for number, floor in enumerate(reversed(contract["layers"])):
                for name in re.split(r" [|:] ", floor):
                    height[f"{container}.{name}".removeprefix("labapp.")] = number
    return height


def test_every_wing_and_room_is_in_the_table_once() -> None:
    wings = [path.parent.name for path in ROOT.glob("labapp/*/__init__.py")]
    rooms = [
        name
        for name in floors()
        if "." in name and (ROOT / "labapp" / name.replace(".", "/") / "__init__.py").exists()
    ]
    assert len(wings) == 12
    assert sorted(places()) == sorted([*wings, *set(rooms) - {"study.instruments"}])


def test_the_table_has_the_order_of_the_floors() -> None:
    height = floors()
    keys = [
        (height[wing], wing, height[f"{wing}.{room}"] if room else -1)
        for wing, _, room in (name.partition(".") for name in places())
    ]
    by_floor = [(floor, room) for floor, _, room in keys]
    assert [floor for floor, _ in by_floor] == sorted(floor for floor, _ in by_floor)
    for wing in {wing for _, wing, _ in keys}:
        heights = [room for _, name, room in keys if name == wing]
        assert heights == sorted(heights)


PLACE = re.compile(r"`([\w/.]+/[\w.]+)`(?:: `([^`]+)`)?")


def test_what_one_wants_to_change_is_where_the_table_says() -> None:
    content = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = content.partition("## Where do I change")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines()[3:] if line.startswith("| ")]
    assert len(rows) > 20
    for what, where, tests in rows:
        assert PLACE.search(where), what
        assert PLACE.search(tests), what
        for file, example in PLACE.findall(where + tests):
            assert example in (ROOT / file).read_text("utf-8"), (what, file, example)


@of_every_page
def test_links_to_headings_lead_somewhere(page: Path) -> None:
    for target, heading in HEADED.findall(page.read_text("utf-8")):
        content = (page.parent / target if target else page).read_text("utf-8")
        lines = re.findall(r"^#+ (.+)$", content, re.MULTILINE)
        assert heading in [re.sub(r"[^\w -]", "", line).lower().replace(" ", "-") for line in lines]


def there(name: str) -> bool:
    """Whether a dotted name is a module, or something in one. A module is not imported for it."""
    module, _, last = name.rpartition(".")
    try:
        return bool(find_spec(name)) or hasattr(import_module(module), last)
    except ModuleNotFoundError:  # what stands before the last name is no package
        outer, _, cls = module.rpartition(".")
        return bool(outer) and hasattr(getattr(import_module(outer), cls, None), last)


def is_command(words: list[str]) -> bool:
    """Whether words begin with a command and its subcommand, as far as there are any."""
    group: Any = command_tree()
    for word in words:
        if not getattr(group, "commands", None):
            return True  # what follows are its arguments
        if word not in group.commands:
            return False
        group = group.commands[word]
    return True


PLAIN = ROOT / "tests" / "plain_words.txt"
ENTRY = re.compile(r"^\* \*\*(\w+)\*\*((?:, \w+)*): ", re.MULTILINE)


@cache
def glossary() -> Counter[str]:
    """How often each form of a word is defined, or listed as ordinary English."""
    content = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    forms = [form for word, others in ENTRY.findall(content) for form in (word, *split(others))]
    return Counter([*forms, *split(PLAIN.read_text("utf-8"))])


def split(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def keys(schema: Any) -> Iterator[str]:
    """The keys that a study file may have, from its JSON Schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        schema = list(schema.values())
    if isinstance(schema, list):
        for value in schema:
            yield from keys(value)


@cache
def names() -> dict[str, set[str]]:
    """The names that the glossary's words make, by what they name."""
    columns, kinds = dictionary(), registered_kinds()
    bundled = [
        column for files in task_files() for column in (*files.event_columns, *files.more_columns)
    ]
    return {
        "key of a study": set(keys(Study.model_json_schema())),
        "kind of event": set(kinds),
        "field of an event": {name for kind in kinds.values() for name in kind.__struct_fields__},
        "table": set(columns["table"]),
        "column": set(columns["column"]),
        "column of a bundle": {column.name for column in bundled},
    }


@pytest.mark.parametrize(
    "what",
    [
        "key of a study",
        "kind of event",
        "field of an event",
        "table",
        "column",
        "column of a bundle",
    ],
)
def test_the_glossary_has_the_words_of_every_name(what: str) -> None:
    lacking = {
        word: name
        for name in names()[what]
        for word in re.split(r"[._]", name)
        if word and not word.isdigit() and word not in glossary()
    }
    assert not lacking, "take a word that is there, or explain yours in docs/glossary.md"


def test_the_glossary_defines_no_word_twice() -> None:
    assert [word for word, count in glossary().items() if count > 1] == []


def test_the_glossary_is_a_line_a_word_in_alphabetical_order() -> None:
    content = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    words = content.partition("## Words")[2].partition("## Units")[0]
    lines = words.strip().splitlines()
    assert [line for line in lines if not ENTRY.match(line)] == []
    heads = [match[1] for match in ENTRY.finditer(words)]
    assert heads == sorted(heads)
