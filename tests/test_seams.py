"""That nothing outside a task's folder tells tasks, parts, items of questionnaires, questionnaires
or data sets apart: neither by their classes nor by their names. Profiles of published studies may.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from labapp.analysis.task_records import Attempt, TaskRecords
from labapp.analysis.task_report import TaskReport
from labapp.base import discovery, resources
from labapp.study.instruments.items import Item
from labapp.study.instruments.kinds import ITEM_KINDS
from labapp.study.plugins import registry
from labapp.study.plugins.item import Item as FlowItem
from labapp.study.plugins.item import TaskStages
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.pictures import PartPictures
from labapp.study.plugins.questions import Question, QuestionsState
from labapp.study.plugins.registry import TaskType
from labapp.study.plugins.simulated import Actor
from tests.helpers.nightly import EVERYTHING

PACKAGE = Path(__file__).resolve().parents[1] / "labapp"
OWN = ("tasks", "papers")
"""Wings that may: of each task its folder, and the papers, which compare tasks."""
TOLD_APART = (
    PlannedPart, FlowItem, TaskStages, TaskType, PartMachine, PartPictures, Question,
    QuestionsState, Actor, Attempt, TaskRecords, TaskReport, Item,
)  # fmt: skip
"""Bases of what a task brings, and of what a questionnaire asks."""
BASES = {
    ("analysis/sections.py", "Profile"): "profiles stand behind tasks, whichever they are",
    ("analysis/task_report.py", "TaskReport"): "what a package brings is checked",
    ("study/plugins/part.py", "TrialsPart"): "the one place that says which parts have trials",
    ("study/instruments/asking.py", "Typed"): "what is typed has no list of possible answers",
    ("study/instruments/asking.py", "Compound"): "the base of what has several parts",
    ("study/instruments/instrument.py", "Listed"): "the base of what has an order to be shuffled",
    ("study/instruments/kinds/__init__.py", "Item"): "what a package brings is checked",
    ("testing/checking.py", "TaskType"): "what a package brings is checked",
}
"""The classes that are asked for all the same: bases, and why that tells no task from another."""
SPLIT_AT_A_STROKE = {
    "cli/commands.py": "the two names of an option",
    "models/concepts/commands.py": "what a stimulus set is called where nobody says: as its model",
    "session/bids/verify.py": "files of a bundle",
    "record/journal/layout.py": "files of a bundle",
    "analysis/answered.py": "files of a bundle",
    "base/naming.py": "what no part of a name may be, as a folder",
    "base/report/drawing.py": "a line of an axis ends behind the stroke of an id",
    "models/representations/distance.py": "a distance and its scale, mse/0.04",
    "models/representations/importing/importing.py": "the same; and a data set where none is "
    "given, once, for the card of an import",
    "models/representations/importing/convert.py": "files of an archive of torch",
    "models/representations/tfjs.py": "names of weights",
    "study/loading.py": "files of assets",
    "ui/language.py": "ids as folders of a path, all of them, which are hidden",
    "ui/replay/coding_window.py": "the last folder of an id is hidden like the id",
}
"""Modules that take a text apart at a stroke, and why nothing follows from a part of an id."""
EVERYDAY = frozenset(
    {
        "break", "choice", "choices", "comments", "consent", "demographics", "example",
        "interview", "judging", "method", "pages", "practice", "questionnaire", "resting", "scale",
        "seq", "slider", "statement", "survey", "sus", "text", "tutorial", "understanding",
        "written", "calibration", "matrix", "ranking", "dropdown", "region",
    }
)  # fmt: skip
"""Names that are words besides: of columns, scores, rows, strategies. They count where something is
asked for its part, task, kind, item or questionnaire."""
ASKED = frozenset({"part", "task", "kind", "part_kind", "instrument", "item", "dataset", "label"})
NAMED = {
    "models/concepts/learners.py": "the name of a loss",
    "models/representations/distance.py": "distances by their names, which are those of data sets",
    "models/representations/tfjs.py": "the three data sets of the published files",
    "session/private.py": "a drawn signature, and no item of a questionnaire",
    "study/instruments/kinds/rating.py": "circles in which a scale is drawn, and no data set",
    "study/plan.py": "an older plan tells whom a questionnaire asks about by its name",
    "models/representations/recipe.py": "what the published studies fix for each data set",
}
"""Files that look something up by such a name all the same, and what."""
WORDS = re.compile(
    r"(?i)\b(interactive )?reconstruction\b|\bsingle[-_ ]?dimension|\bjudging\b|\bunmasking\b"
    r"|\bwarm[-_]?up\b|\bconcept[-_ ]?(repair|grid)\b"
)
GOES_ON = re.compile(r"[\"']\s*[rfb]*[\"']")
"""Where a text ends and the next begins, which Python reads as one."""
TOLD = {
    "session/bids/folder.py": "names of entities, as BIDS has them",
    "models/concepts/learners.py": "the name of a loss",
    "base/discovery.py": "the table of what is shipped",
    "models/explanations/building/sets.py": "what the stimulus sets are called that can be built",
    "ui/moderator/wording.py": "titles of parts, to be translated",
    "ui/researcher/page.py": "quantities of reports, to be translated",
}
"""Files in whose texts the name of a task stands all the same, and what for."""


@cache
def contents() -> Mapping[str, str]:
    """By its path the text of each module outside the folders of tasks and the papers."""
    return {
        str(path.relative_to(PACKAGE)): path.read_text("utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in OWN and path.name != "__main__.py"
    }


@cache
def parsed(path: str) -> ast.Module:
    return ast.parse(contents()[path])


def trees(*having: str) -> Mapping[str, ast.Module]:
    """By its path the syntax tree of each of these modules whose text has all these patterns:
    without them there is nothing in there to look at."""
    patterns = [re.compile(each) for each in having]
    return {
        path: parsed(path)
        for path, text in contents().items()
        if all(pattern.search(text) for pattern in patterns)
    }


def imported(tree: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Of every import anywhere in a module, also of those for types alone: the module it is from,
    what it is there, and its name here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.module or "", alias.name, alias.asname or alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, "", alias.asname or alias.name


def test_nothing_outside_imports_a_task_or_a_profile() -> None:
    own = re.compile(r"labapp\.(tasks|papers)(\.|$)")
    strange = [
        f"{path}: {module}.{name}"
        for path, tree in trees(r"labapp\.(tasks|papers)\b|from\s+labapp\s+import").items()
        for module, name, _ in imported(tree)
        if own.match(f"{module}.{name}")
    ]
    assert strange == []


def classes_of(node: ast.AST) -> Iterator[ast.expr]:
    """The classes by which a piece of code tells things apart: of isinstance and issubclass, of a
    pattern, of a comparison of types."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, classes]):
            for piece in ast.walk(classes):
                if isinstance(piece, ast.Name | ast.Attribute):
                    yield piece
        case ast.MatchClass(cls=cls):
            yield cls
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
            if any(
                isinstance(side, ast.Call)
                and isinstance(side.func, ast.Name)
                and side.func.id == "type"
                for side in sides
            ):
                yield from sides


def resolved(expression: ast.expr, names: Mapping[str, Any]) -> Any:
    """What a name, or a name with dots, stands for in a module; None for anything else."""
    match expression:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(value=value, attr=name):
            return getattr(resolved(value, names), name, None)
    return None


def names_of_classes() -> set[str]:
    """What TOLD_APART and all that is derived from them are called anywhere in labapp, read and not
    imported: a module without such a name tells none of them apart."""
    named = re.compile(
        r"^ *class (?P<class>\w+)\((?P<bases>[^)]*)"
        r"|^(?P<alias>\w+)(: [^=\n]+)? = (?P<value>[\w.]+)$"
        r"|(?P<first>[A-Z]\w*) as (?P<second>[A-Z_]\w*)",
        re.MULTILINE,
    )
    definitions = [
        (
            match["class"] or match["alias"] or match["second"],
            set(re.findall(r"\w+", match["bases"] or match["value"] or match["first"] or "")),
        )
        for path in PACKAGE.rglob("*.py")
        for match in named.finditer(path.read_text("utf-8"))
    ]
    names = {cls.__name__ for cls in TOLD_APART}
    while more := {name for name, of in definitions if of & names} - names:
        names |= more
    return names


def classes_told_apart() -> Iterator[tuple[str, str]]:
    asking = r"(?m)\b(isinstance|issubclass|type)\(|^ +case\b"
    named = rf"\b({'|'.join(names_of_classes())})\b"
    for path, tree in trees(asking, named).items():
        asked = [expression for node in ast.walk(tree) for expression in classes_of(node)]
        roots = {
            piece.id
            for expression in asked
            for piece in ast.walk(expression)
            if isinstance(piece, ast.Name)
        }
        names: dict[str, Any] = {}
        if any(isinstance(node, ast.ClassDef) and node.name in roots for node in ast.walk(tree)):
            dotted = ".".join(("labapp", *Path(path).with_suffix("").parts))
            names |= vars(import_module(dotted.removesuffix(".__init__")))
        for source, name, here in imported(tree):
            if here in roots and source.startswith("labapp"):
                module = import_module(source)
                names[here] = getattr(module, name, None) or import_module(f"{source}.{name}")
        for expression in asked:
            known = resolved(expression, names)
            if isinstance(known, type) and issubclass(known, TOLD_APART):
                yield path, known.__name__


def test_nothing_outside_tells_tasks_apart_by_classes() -> None:
    assert set(classes_told_apart()) == BASES.keys()


@cache
def names_of_tasks() -> frozenset[str]:
    """What tasks, parts, stages, items of a flow, questionnaires, kinds of items, studies, models
    and data sets are called."""
    assets = resources.assets()
    models = [path.parent for path in resources.models().glob("*/*/model.yaml")]
    return frozenset(
        {
            *registry.part_kinds(),
            *(known.name for known in registry.task_types()),
            *(known.key for known in registry.item_classes()),
            *(
                str(task)
                for stages in registry.stages_classes()
                for task in get_args(stages.model_fields["task"].annotation)
            ),
            *(path.stem for path in (assets / "instruments").glob("*.yaml")),
            *(path.stem for path in (assets / "studies").glob("*.yaml")),
            *(ITEM_KINDS.keys() - {"number", "date"}),  # kinds of columns, too
            *(folder.parent.name for folder in models),
            *(f"{folder.parent.name}/{folder.name}" for folder in models),
            *discovery.TASKS,
            *discovery.PROFILES,
        }
    )


def asks(expression: ast.AST) -> bool:
    """Whether a piece of code names what tasks, parts and items are told apart by."""
    for piece in ast.walk(expression):
        match piece:
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in ASKED:
                return True
            case ast.Subscript(slice=ast.Constant(value=name)) if name in ASKED:
                return True
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=name), *_]):
                if name in ASKED:
                    return True
    return False


def names_told_apart(tree: ast.AST) -> Iterator[str]:
    """Where a text is compared with such a name, or looked up by it: line and name."""
    known = names_of_tasks()
    for node in ast.walk(tree):
        what: list[ast.AST] = []
        match node:
            case ast.Compare(left=left, comparators=others):
                sides: list[ast.AST] = [left, *others]
                what = list(sides)
            case ast.Match(subject=subject, cases=cases):
                sides = [piece for each in cases for piece in ast.walk(each.pattern)]
                sides = [piece for piece in sides if isinstance(piece, ast.MatchValue)]
                what = [subject]
            case ast.Dict(keys=keys):
                sides = [key for key in keys if key is not None]
            case ast.Call(func=ast.Attribute(attr="startswith" | "endswith" | "get"), args=args):
                sides = list(args[:1])
            case _:
                continue
        everyday = any(map(asks, what))
        for side in sides:
            for piece in ast.walk(side):
                if not isinstance(piece, ast.Constant) or piece.value not in known:
                    continue
                if everyday or piece.value not in EVERYDAY:
                    yield f"{piece.lineno} {piece.value}"


def test_nothing_outside_tells_tasks_apart_by_names() -> None:
    known = "|".join(map(re.escape, names_of_tasks()))
    literal = f"[\"'}}]({known})[\"'{{]"
    told = {path: list(names_told_apart(tree)) for path, tree in trees(literal).items()}
    assert {path: names for path, names in told.items() if names and path not in NAMED} == {}
    assert {path for path in NAMED if told[path]} == NAMED.keys()


def texts(tree: ast.Module) -> Iterator[str]:
    """The texts of a module, without its docstrings."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def test_no_text_outside_names_a_task() -> None:
    told = Counter(
        path
        for path, source in contents().items()
        # Also of a text that goes on in a further literal.
        if EVERYTHING or WORDS.search(source) or WORDS.search(GOES_ON.sub("", source))
        for text in texts(parsed(path))
        if WORDS.search(text)
    )
    assert told.keys() == TOLD.keys()


def test_what_tells_tasks_apart_is_seen() -> None:
    """The counters themselves: each way of telling apart, as it was before."""
    tree = ast.parse(
        "if part.part == 'text': ...\n"
        "if row['task'] in ('judging', 'reconstruction'): ...\n"
        "match item.get('kind'):\n    case 'statement': ...\n"
        "GROUPS = {'single-dimension': 1}\n"
        "if model.startswith('mnist8k'): ...\n"
        "if row['text'] != 'text': ...\n"
    )
    told = sorted(told.split()[1] for told in names_told_apart(tree))
    assert told == [
        "judging",
        "mnist8k",
        "reconstruction",
        "single-dimension",
        "statement",
        "text",
    ]
    tree = ast.parse("isinstance(a, (A, b.B))\nmatch x:\n    case C(): ...\nif type(x) is D: ...\n")
    found = [ast.unparse(each) for node in ast.walk(tree) for each in classes_of(node)]
    assert {"A", "b.B", "C", "D"} <= set(found)


def test_no_model_is_named_or_sorted_by_a_part_of_its_id() -> None:
    modules = {
        name
        for name, tree in trees(r"(split|partition)\(\s*[\"']/").items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"split", "rsplit", "partition", "rpartition"}
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == "/"
    }
    assert modules <= set(SPLIT_AT_A_STROKE)
