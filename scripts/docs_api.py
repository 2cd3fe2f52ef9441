"""The page of the documentation about Python, made from the docstrings of what is public.

Public is what `labapp` offers, what these functions return, `labapp.testing`, and what the recipes
import. docs_reference.py has the page among the others.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

RECIPES = Path(__file__).resolve().parents[1] / "docs" / "recipes"
IMPORT = re.compile(r"^\s*from (labapp[\w.]*) import (\([^)]*\)|[^\n#]+)", re.MULTILINE)
SEE = re.compile(r"[Ss]ee `(labapp[\w.]+)`")
SECTION = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)
WITHOUT_WORDS = "a type or value that the recipes use"
"""Of a name that has no docstring of its own."""

ABOUT = """# Python API

Made from the docstrings of this version. [In Python](../guide/python.md) has examples to copy.

**Stable within 0.x**: everything on this page. Names stay, and arguments keep their meaning. A name
that will go away warns first.

**Not stable**: everything else. Modules may move or change in any release.
"""


def python_api() -> str:
    import labapp
    from labapp.analysis.tables import Tables
    from labapp.base.report.drawing import ReportFigure
    from labapp.models.metrics.inputs import Score
    from labapp.models.metrics.registry import METRICS
    from labapp.public import OFFERED

    parts = [ABOUT, "## Functions"]
    for name in OFFERED:
        parts += function(f"labapp.{name}", getattr(labapp, name))
    parts.append("Metrics by name: " + ", ".join(f"`{name}`" for name in sorted(METRICS)) + ".")
    parts.append("## What they return")
    for returned in (Tables, ReportFigure, Score):
        parts += class_page(returned)
    parts.append("## `labapp.testing`: check a task of your own")
    for name in names_of("labapp.testing"):
        text = docstring("labapp.testing", name) or ""
        parts += [f"### `labapp.testing.{name}`", sections(inspect.cleandoc(text))]
    parts += ["## What the recipes import", "Names for tasks, metrics and other parts of your own."]
    rows = [f"| `{name}` | {first_sentence(text)} |" for name, text in imported()]
    parts.append("\n".join(["| name | what it is |", "| --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


def imported() -> Iterator[tuple[str, str]]:
    """What the code of the recipes imports from labapp: dotted names, in order, each with its
    docstring. Nothing is imported for it: some of these modules need torch."""
    names_found = {}
    for page in sorted(RECIPES.glob("*.md")):
        for module, names in IMPORT.findall(page.read_text("utf-8")):
            for name in re.findall(r"(\w+)(?: as \w+)?", names):
                if (text := docstring(module, name)) is not None:
                    names_found[f"{module}.{name}"] = text
    yield from sorted(names_found.items())


def docstring(module: str, name: str) -> str | None:
    """What the source of a module says of a name in it; None where it has no such name."""
    if (inner := source(f"{module}.{name}")) is not None:
        return ast.get_docstring(inner) or ""
    tree = source(module)
    if tree is None:
        return None
    for number, node in enumerate(tree.body):
        match node:
            case ast.ClassDef(name=bound) | ast.FunctionDef(name=bound) if bound == name:
                return ast.get_docstring(node) or ""
            case (
                ast.Assign(targets=[ast.Name(id=bound)]) | ast.AnnAssign(target=ast.Name(id=bound))
            ) if bound == name:
                after = tree.body[number + 1 : number + 2]
                match after:
                    case [ast.Expr(value=ast.Constant(value=str(text)))]:
                        return text
                return ""
            case ast.Try(body=[ast.ImportFrom(module=str(other), names=aliases)]) if name in [
                alias.name for alias in aliases
            ]:
                return docstring(other, name)
            case ast.ImportFrom(module=str(other), names=aliases) if name in [
                alias.asname or alias.name for alias in aliases
            ]:
                return docstring(other, name)
    return None


def names_of(module: str) -> list[str]:
    """What a module offers by its `__all__`."""
    tree = source(module)
    assert tree is not None
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise LookupError(module)


def source(module: str) -> ast.Module | None:
    """The source of a module of labapp; None where there is none."""
    path = RECIPES.parents[1] / module.replace(".", "/")
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return ast.parse(file.read_text("utf-8"))
    return None


def function(name: str, thing: Callable[..., Any]) -> list[str]:
    """Heading, signature and docstring; of a function that hands its options on, those of the
    function that its docstring refers to."""
    if inspect.isclass(thing):
        return class_page(thing, name)
    text = inspect.getdoc(thing) or ""
    parts = [f"### `{name}`"]
    described = thing
    if (see := SEE.search(text)) and "options" in inspect.signature(thing).parameters:
        module, _, last = see[1].rpartition(".")
        described = getattr(import_module(module), last)
        text = inspect.getdoc(described) or ""
    parts.append(f"```python\n{signature(name, described)}\n```")
    parts.append(sections(text))
    return parts


def class_page(cls: type, name: str = "") -> list[str]:
    """A class with its own public methods."""
    parts = [f"### `{name or cls.__name__}`", sections(inspect.getdoc(cls) or "")]
    for method, thing in vars(cls).items():
        inner = getattr(thing, "__func__", getattr(thing, "fget", thing))
        if method.startswith("_") or not inspect.isfunction(inner) or not inspect.getdoc(inner):
            continue
        if isinstance(thing, classmethod):
            continue  # makes one; people get it from a function
        parts += [f"#### `{cls.__name__}.{method}`", sections(inspect.getdoc(inner) or "")]
    return parts


def signature(name: str, thing: Callable[..., Any]) -> str:
    """The call with its arguments and defaults, one a line if they are many."""
    parsed = inspect.signature(thing)
    whole = plain(f"{name}{parsed}")
    if len(whole) <= 88:
        return whole
    lines, keyword = [], False
    for parameter in parsed.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword:
            lines.append("    *,")
            keyword = True
        lines.append(plain(f"    {parameter},"))
    return f"{name}(\n" + "\n".join(lines) + f"\n) -> {parsed.return_annotation}"


def plain(call: str) -> str:
    """A signature without the quotes of its types, and without what a default is made of."""
    call = re.sub(r"(: |-> )'([^']*)'", r"\1\2", call)
    return re.sub(r"= [A-Z]\w*\(.*\)(?=,$)", "= ...", call)


def sections(text: str) -> str:
    """A docstring as Markdown: its sections bold, parameters as a list."""
    from scripts.docs_reference import prose

    text = re.split(r"^>>> ", text, maxsplit=1, flags=re.MULTILINE)[0]
    pieces = SECTION.split(text)
    blocks = [prose(part) for part in re.split(r"\n\s*\n", pieces[0]) if part.strip()]
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        blocks.append(f"**{title.strip()}**")
        blocks.append(
            listed(body) if re.search(r"^\S[^\n]* : ", body, re.MULTILINE) else prose(body)
        )
    return "\n\n".join(blocks)


def listed(body: str) -> str:
    from scripts.docs_reference import prose

    body, *rest = re.split(r"\n\s*\n", body.strip("\n"))
    entries = re.split(r"\n(?=\S)", body)
    lines = []
    for entry in entries:
        name, _, meaning = entry.partition(" : ")
        lines.append(f"* `{name}`: {prose(meaning)}")
    return "\n\n".join(["\n".join(lines), *map(prose, rest)])


def first_sentence(text: str) -> str:
    from scripts.docs_reference import prose

    sentence = re.split(r"(?<=[.])\s", " ".join(text.split()))[0]
    return prose(sentence).replace("|", "\\|") or WITHOUT_WORDS
