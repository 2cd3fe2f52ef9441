"""The reference of the documentation, made from the code: every key of a study, a questionnaire,
a stimulus set and a codebook, every placeholder, table and column, event and command.

`pages()` gives the pages by their name below docs/; MkDocs asks for them (docs_hooks.py), and
`python -m scripts.docs_reference` prints them.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from scripts.docs_api import python_api

Schema = Mapping[str, Any]
Examples = Mapping[tuple[str, str], tuple[str, str]]
"""By class and key: a value as a file has it, and which file that is."""
ROOT = Path(__file__).resolve().parents[1]
LONGEST = 60
SIMPLE = ("quickstart", "dsprites-demo")
"""Whose examples are shown first."""
UNTOLD = 10**6
"""Bounds that nobody comes near."""


def pages() -> dict[str, str]:
    """Every page, by its name below docs/."""
    return {f"reference/{name}.md": make() for name, make in MAKERS.items()}


def headings() -> dict[str, str]:
    """The page of each heading of docs/reference/README.md, by the heading.

    In the repository's own view links lead to the headings; docs_hooks.py leads them to the pages.
    """
    first = (ROOT / "docs" / "reference" / "README.md").read_text("utf-8")
    return dict(zip(re.findall(r"(?m)^## (.+)$", first), PAGES, strict=True))


# --- Keys ----------------------------------------------------------------------------------------


def study() -> str:
    from labapp.study import loading
    from labapp.study.authoring import schema_of

    names = sorted(
        (path.stem for path in loading.list_shipped()), key=lambda name: name not in SIMPLE
    )
    files = [(name, loading.load(name).study) for name in names]
    about = """A study is a YAML file. `labapp studies check FILE` tells what is wrong with it,
`labapp studies schema` prints what follows as a JSON Schema. Start with
[Your own study](../tutorials/own-study.md)."""
    return keys("Study files", about, schema_of("study"), examples(files))


def instrument() -> str:
    from labapp.base import resources
    from labapp.study.authoring import schema_of
    from labapp.study.instruments import Instrument

    files = [
        (path.stem, Instrument.model_validate(yaml.safe_load(path.read_text("utf-8"))))
        for path in sorted((resources.assets() / "instruments").glob("*.yaml"))
    ]
    about = """A questionnaire is a YAML file, `instruments/<id>.yaml` beside the study that asks
it. Start with [Your own questionnaire](../tutorials/own-questionnaire.md). What a key says of texts
may be one text, or texts by language."""
    return keys("Questionnaires", about, schema_of("instrument"), examples(files))


def stimulus_set() -> str:
    from labapp.base import resources
    from labapp.models.stimuli.manifest import Manifest
    from labapp.study.authoring import schema_of

    files = [
        (path.parent.name, Manifest.model_validate_json(path.read_bytes()))
        for path in sorted(resources.stimuli().glob("*/manifest.json"))
    ]
    about = """`manifest.json` in the folder of a stimulus set. `labapp stimuli check FOLDER`
tells what is wrong with one; [Pictures of your own](../shipped/stimulus-sets.md) shows how to make
one, also from CSV tables."""
    return keys("Stimulus sets", about, schema_of("stimuli"), examples(files))


def codebook() -> str:
    from labapp.base import resources
    from labapp.base.documents import parse_yaml
    from labapp.coding.annotations.codebook import CodebookDocument
    from labapp.study.authoring import schema_of

    files = [
        (path.stem, CodebookDocument.model_validate(parse_yaml(path, path.read_bytes()).value))
        for path in sorted((resources.assets() / "codebooks").glob("*.yaml"))
    ]
    about = """A codebook is a YAML file, `codebook.yaml` or `codebook-….yaml`, in the folder of a
study's sessions. `labapp code check FILE` tells what is wrong with it, `labapp code schema` prints
what follows as a JSON Schema, and `labapp code diff OLD NEW` says what changed. Every version that
codes were given by is kept in `annotations/codebooks`."""
    page = keys("Codebooks", about, schema_of("codebook"), examples(files))
    return page.replace("## CodebookDocument {", "## The file {")


def examples(files: Sequence[tuple[str, BaseModel]]) -> Examples:
    """How each key is used, by the first file that does."""
    known: dict[tuple[str, str], tuple[str, str]] = {}

    def walk(value: Any, file: str) -> None:
        if isinstance(value, BaseModel):
            for key in value.model_fields_set:
                content = getattr(value, key)
                place = (type(value).__name__, key)
                if place not in known or len(known[place][0]) > LONGEST:
                    short = flow(content)
                    if place not in known or len(short) < LONGEST:
                        known[place] = (short, file)
                walk(content, file)
        elif isinstance(value, Mapping):
            for content in value.values():
                walk(content, file)
        elif isinstance(value, list | tuple):
            for content in value:
                walk(content, file)

    for file, document in files:
        walk(document, file)
    return known


def flow(value: Any) -> str:
    """A value as one line of YAML."""
    plain = json.loads(
        json.dumps(value, default=lambda o: o.model_dump(mode="json", exclude_unset=True))
    )
    text = yaml.safe_dump(
        plain, default_flow_style=True, width=10**6, allow_unicode=True, sort_keys=False
    )
    return text.removesuffix("\n").removesuffix("\n...")


def keys(title: str, about: str, schema: Schema, known: Examples) -> str:
    """A page with every key of a JSON Schema, a section for each of its objects."""
    definitions: dict[str, Schema] = {str(schema["title"]): schema, **schema.get("$defs", {})}
    used = uses(definitions)
    titles = {
        name: titled(definition, used[name]) or name
        for name, definition in definitions.items()
        if "properties" in definition
    }
    first, *others = titles
    parts = [f"# {title}", about]
    for name in (first, *sorted(others, key=lambda name: titles[name])):
        definition = definitions[name]
        parts.append(f"## {titles[name]} {{ #{name.lower()} }}")
        if text := paragraphs(definition.get("description", "")):
            parts.append(text)
        rows = [
            key_row(name, key, field, definition, known, titles)
            for key, field in definition["properties"].items()
        ]
        parts.append(table(("key", "what it says", "for example"), rows))
    return "\n\n".join(parts) + "\n"


def uses(definitions: Mapping[str, Schema]) -> dict[str, list[str]]:
    """By the name of an object: the keys whose values it can be."""
    used: dict[str, list[str]] = defaultdict(list)
    for definition in definitions.values():
        for key, field in definition.get("properties", {}).items():
            for name in dict.fromkeys(re.findall(r'"#/\$defs/(\w+)"', json.dumps(field))):
                if key not in used[name]:
                    used[name].append(key)
    return used


def titled(definition: Schema, used: Sequence[str]) -> str:
    """What an object is called: the keys whose value it is, and what tells it from others there."""
    fields = definition["properties"]
    places = [place for place in used if place in ("flow", "stages")] or list(used)
    if not places:
        return ""
    telling = [
        key
        for key in definition.get("required", ())
        if places[0] == "flow" or (places[0] == "stages" and {"const", "enum"} & fields[key].keys())
    ][:1]
    words = [", ".join(places)]
    for key in telling:
        allowed = (
            fields[key].get("enum") or [fields[key]["const"]]
            if ({"const", "enum"} & fields[key].keys())
            else []
        )
        words += [key] if places[0] == "flow" else []
        words += [", ".join(map(str, allowed))] if allowed else []
    return ": ".join(words)


def key_row(
    name: str,
    key: str,
    field: Schema,
    definition: Schema,
    known: Examples,
    titles: Mapping[str, str],
) -> tuple[str, ...]:
    if key in definition.get("required", ()):
        default = "required"
    else:
        default = f"by default {code(flow(field['default']))}" if "default" in field else "optional"
    example, file = known.get((name, key), ("", ""))
    if field.get("examples"):
        example, file = flow(field["examples"][0]), ""
    text = code(shortened(example)) + (f" ({file})" if file else "") if example else ""
    meaning = " ".join(str(field.get("description", "")).split())
    return code(key), f"{meaning}<br>*{kind(field, titles)}; {default}*", text


def kind(field: Schema, titles: Mapping[str, str]) -> str:
    """The type of a key in words."""
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[-1]
        return f"[{titles.get(name, name)}](#{name.lower()})" if name in titles else "a text"
    if "const" in field:
        return code(flow(field["const"]))
    if "enum" in field:
        return " or ".join(code(flow(value)) for value in field["enum"])
    if many := field.get("anyOf") or field.get("oneOf"):
        return " or ".join(dict.fromkeys(kind(member, titles) for member in many))
    match field.get("type"):
        case "array":
            inner = field.get("items") or {}
            return f"list of {kind(inner, titles)}" if inner else "list"
        case "object":
            inner = field.get("additionalProperties") or next(
                iter((field.get("patternProperties") or {}).values()), None
            )
            values = kind(inner, titles) if isinstance(inner, Mapping) else "values"
            return f"names with {values}"
        case "string":
            return "text" + bounds(field, "Length", " characters")
        case "integer":
            return "whole number" + bounds(field, "imum", "")
        case "number":
            return "number" + bounds(field, "imum", "")
        case "boolean":
            return "`yes` or `no`"
        case "null":
            return "nothing"
        case other:
            return str(other or "anything")


def bounds(field: Schema, end: str, unit: str) -> str:
    parts = [
        f"{word} {field[key]:,g}"
        for word, key in (
            ("from", f"min{end}"),
            ("above", f"exclusiveMin{end}"),
            ("to", f"max{end}"),
            ("below", f"exclusiveMax{end}"),
        )
        if key in field and abs(field[key]) < UNTOLD
    ]
    return (
        f", {' '.join(parts)}{unit}"
        if parts and (unit == "" or "from 1 " not in " ".join(parts))
        else ""
    )


# --- Placeholders --------------------------------------------------------------------------------


def placeholders() -> str:
    """What the parts of every shipped study fill in in their texts."""
    from labapp.study.planner import PLACEHOLDERS
    from labapp.study.plugins import registry

    filled: dict[str, dict[str, str]] = defaultdict(dict)
    meanings: dict[tuple[str, str], list[str]] = defaultdict(list)
    for part, near in shipped_parts():
        task = registry.task_type_of(part)
        if not list(part.documents()):
            continue
        where = place_of(part, str(getattr(near, "task", "") or ""))
        known = PLACEHOLDERS | {
            name: meaning
            for kind in (*registry.task_types(), registry.task_type_of(near), task)
            for name, meaning in kind.placeholders.items()
        }
        values = getattr(part, "values", {})
        for name in (*part.filled(), *task.fills_in):
            value = str(values.get(name, "")) if isinstance(values, Mapping) else ""
            if not filled[where].get(name):
                filled[where][name] = value
            if known.get(name, "") not in meanings[where, name]:
                meanings[where, name].append(known.get(name, ""))
    sections = [
        f"## {where}\n\n"
        + table(
            ("name", "what it stands for", "for example"),
            [
                (
                    code(f"{{{name}}}"),
                    prose("; or ".join(meanings[where, name])),
                    code(shortened(value)),
                )
                for name, value in sorted(names.items())
            ],
        )
        for where, names in sorted(filled.items())
    ]
    about = """# Placeholders

A text may name a value in braces, such as `{trials}`; it is filled in when the text is shown. A
paragraph with a value that is empty is left out. `labapp studies check` refuses a placeholder for
which nothing is filled in, with file and line, the part, and the names that are known there. Here
stand the names that the shipped studies' texts can use, by where the text is shown, with the value
of one participant.

Names of files, models and sets of a study may hold `{language}` and the variables of its
`assignment`, such as `texts/{language}/{condition}.md`. What a placeholder of results says (of
answers given before) is empty where nothing was answered yet.
"""
    return "\n\n".join([about.rstrip(), *sections]) + "\n"


def shipped_parts() -> Iterator[tuple[Any, Any]]:
    """Every part of the plans of all conditions of the shipped studies, each with the part of the
    task that it stands before; for what stands before none: behind."""
    from labapp.study import loading, overview
    from labapp.study.plan import Plan

    for path in loading.list_shipped():
        plans: list[Plan] = []
        overview.check(path.stem, plans=plans)
        for plan in plans:
            for index, part in enumerate(plan.parts):
                near = [*plan.parts[index:], *reversed(plan.parts[:index])]
                yield part, next((other for other in near if getattr(other, "task", "")), part)


def place_of(part: Any, task: str) -> str:
    """Where a text stands: what it is part of, and which task that is."""
    if re.fullmatch(r"stage-\d+-intro", part.id):
        return f"Before a stage: {task}"
    if part.id.startswith("practice-intro"):
        return f"Before practice or an example: {task}"
    if re.match(r"stage-\d+$", part.id):
        return f"In a stage: {task}"
    return f"In a part of the flow: {part.part.replace('_', ' ')}"


# --- Tables and events ---------------------------------------------------------------------------


def tables() -> str:
    from labapp.analysis.analyze import dictionary
    from labapp.study.plugins.registry import task_files

    parts = [
        """# Tables and columns

`labapp analyze` writes each table as CSV and as Parquet, and this list as `columns.csv` beside
them; `labapp.analysis.load` gives them as pandas frames. Below stand the columns that a bundle has
of each task."""
    ]
    for name, columns in dictionary().groupby("table", sort=False):
        rows = [
            (code(row.column), prose(row.meaning), row.type, row.unit or "")
            for row in columns.itertuples()
        ]
        parts += [f"## {name}", table(("column", "what it is", "type", "unit"), rows)]
    parts.append("## In a bundle")
    for files in task_files():
        columns = {column.name: column for column in (*files.event_columns, *files.more_columns)}
        rows = [
            (code(name), prose(column.description), prose(str(getattr(column, "unit", "") or "")))
            for name, column in columns.items()
        ]
        parts += [
            f"### {files.name}",
            prose(files.description),
            table(("column", "what it is", "unit"), rows),
            table(
                ("trial_type", "what it is"), [(code(n), prose(t)) for n, t in files.types.items()]
            ),
        ]
    return "\n\n".join(parts) + "\n"


def measures() -> str:
    """How reports say that their numbers are defined."""
    from labapp.analysis.analyze import DEFINITIONS
    from labapp.analysis.task_report import reports

    groups = {"Every study": DEFINITIONS}
    for report in reports():
        title = spaced(type(report).__module__.split(".")[2])
        groups[title] = {**groups.get(title, {}), **report.definitions}
    parts = [
        """# Measures

How the numbers of tables and reports are defined, as `report.html` says it at its end. Why each
statistic is the one it is stands in [Statistics](../explanation/statistics.md)."""
    ]
    for title, definitions in groups.items():
        if definitions:
            rows = [(prose(term), prose(meaning)) for term, meaning in definitions.items()]
            parts += [f"## {title}", table(("measure", "what it is"), rows)]
    return "\n\n".join(parts) + "\n"


def events() -> str:
    from labapp.record.events.registry import describe, hints, registered_kinds, remarks

    parts = [
        """# Events

A journal is a list of these, in order; each has a number, a time in nanoseconds of the session's
clock, a source (participant, moderator, system) and the fields of its kind. *Durable* ones are on
the disk before the screen goes on, others within 250 ms. A text whose privacy is *kept* is the
program's or the study's own; a de-identified copy keeps no other. `codebook.json` of a bundle says
the same of the version that wrote it."""
    ]
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in describe():
        groups[row["kind"].partition(".")[0]].append(row)
    for group, kinds in groups.items():
        parts.append(f"## {group}")
        for row in kinds:
            durable = ", durable" if row["durable"] else ""
            parts += [
                f"### {row['kind']}",
                f"*Version {row['version']}{durable}.* {prose(row['meaning'])}",
            ]
            if row["fields"]:
                limits = {
                    name: remarks(hint)
                    for name, hint in hints(registered_kinds()[row["kind"]]).items()
                }
                fields = [
                    (code(name), prose(row["field_meanings"][name]), code(type_), limits[name])
                    for name, type_ in row["fields"].items()
                ]
                parts.append(table(("field", "what it is", "type", "limits"), fields))
    return "\n\n".join(parts) + "\n"


# --- Commands ------------------------------------------------------------------------------------


def commands() -> str:
    from labapp.cli.main import command_tree

    parts = [
        """# Commands

`labapp COMMAND --help` says the same. Without a command the moderator's window opens. Every
command ends with 0 where all went well; what went wrong is told in words: what happened, what is
safe, what to do."""
    ]
    root: Any = command_tree()
    parts.append(options(root))
    for name, command in sorted(root.commands.items()):
        parts += [f"## labapp {name}", *described(f"labapp {name}", command)]
    return "\n\n".join(part for part in parts if part) + "\n"


def described(name: str, command: Any) -> Iterator[str]:
    yield prose_help(command.help or "")
    yield f"```text\n{usage(name, command)}\n```"
    yield options(command)
    for sub, inner in sorted(getattr(command, "commands", {}).items()):
        yield f"### {name} {sub}"
        yield from described(f"{name} {sub}", inner)


def usage(name: str, command: Any) -> str:
    """How a command is given: `[…]` can be left out, `…` may follow more than once."""
    words = [name]
    for parameter in command.params:
        required = parameter.required
        if parameter.param_type_name == "argument":
            word = parameter.name.upper() + (" …" if parameter.nargs == -1 else "")
        elif required:
            word = f"{parameter.opts[0]} {parameter.name.strip('_').upper()}"
        else:
            continue
        words.append(word if required else f"[{word}]")
    if any(parameter.param_type_name == "option" for parameter in command.params):
        words.append("[options]")
    return " ".join([*words, *(["COMMAND"] if getattr(command, "commands", None) else [])])


def options(command: Any) -> str:
    rows = []
    for parameter in command.params:
        names = ", ".join(code(n) for n in (*parameter.opts, *parameter.secondary_opts))
        if parameter.param_type_name == "argument":
            names = code(parameter.name.upper())
        default = parameter.default
        if parameter.required:
            text = "required"
        elif (
            isinstance(default, str | int | float)
            and not isinstance(default, bool)
            and default != ""
        ):
            text = code(str(default))
        else:
            text = ""
        rows.append((names, prose(getattr(parameter, "help", "") or ""), text))
    return table(("option", "what it does", "default"), rows) if rows else ""


def prose_help(text: str) -> str:
    """A command's help: its example as code."""
    whole = " ".join(text.split())
    before, mark, example = whole.partition("Example: ")
    return prose(before.strip()) + (f"\n\nExample: {code(example)}" if mark else "")


# --- Keys of windows ------------------------------------------------------------------------------


def replay_keys() -> str:
    from labapp.base import messages, resources
    from labapp.ui.replay.transport import ACTIONS, FILE

    titles = {"replay": "Replay", "code": "Coding", "text": "While words are typed"}
    shipped = yaml.safe_load((resources.assets() / "replay" / FILE).read_text("utf-8"))
    parts = [
        """# Keys of the replay

Everything in the window of a replay is done by a key; none needs a numeric pad, and ? shows them
all. In coding, letters and digits alone belong to codes.

A file `keys.yaml` in your settings folder (`$LABAPP_SETTINGS`) gives actions other keys; what it
does not name stays as it is here:

```yaml
replay:
  play: [Space, Ctrl+P]
```

A key that is none, that belongs to codes, or that another action has, is refused with its line and
the reason; the window then says so, and the usual keys hold. Of a sign that needs Shift, write the
sign: `<`, and not Shift and the comma."""
    ]
    for section, actions in ACTIONS.items():
        if actions:
            rows = [
                (
                    code(name),
                    prose(messages.sentence(key)),
                    ", ".join(map(code, shipped[section][name])),
                )
                for name, key in actions.items()
            ]
            parts.append(
                f"## {titles[section]}\n\n{table(('action', 'what it does', 'keys'), rows)}"
            )
    return "\n\n".join(parts) + "\n"


# --- Words of Markdown ---------------------------------------------------------------------------


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines
    )


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def prose(text: str) -> str:
    """A sentence of the code, with nothing in it that Markdown would take for its own."""
    escaped = re.sub(r"([*_<\[\]])", r"\\\1", " ".join(str(text).split()))
    return re.sub(r"`[^`]*`", lambda match: match[0].replace("\\", ""), escaped)


def spaced(name: str) -> str:
    return name.replace("_", " ").capitalize()


def paragraphs(text: str) -> str:
    """A docstring's sentences; what it says of single attributes stands beside these."""
    text = re.split(r"\n\s*Attributes\n\s*-+\n", text)[0]
    return "\n\n".join(prose(part) for part in re.split(r"\n\s*\n", text) if part.strip())


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


MAKERS = {
    "study": study,
    "instrument": instrument,
    "stimulus-set": stimulus_set,
    "codebook": codebook,
    "placeholders": placeholders,
    "tables": tables,
    "measures": measures,
    "events": events,
    "commands": commands,
    "keys": replay_keys,
    "python": python_api,
}
PAGES = tuple(f"reference/{name}.md" for name in MAKERS)
"""Every page, by its name below docs/."""

if __name__ == "__main__":
    for uri, content in pages().items():
        sys.stdout.write(f"<!-- {uri} -->\n{content}\n")
