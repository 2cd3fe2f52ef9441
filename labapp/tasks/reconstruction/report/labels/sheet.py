"""The sheet in which raters mark names that participants agree on: written and read as CSV.

A spreadsheet program takes 3-5-6 for a date, 2-0 for another and =1+1 for a formula, and people do
name dials so (paper 000, Table 1). Each name therefore stands behind an apostrophe, as text that
could be a formula does in every table (see `labapp.text_tables`): no program takes such a cell for
anything but text. The apostrophe is taken off again when the sheet is read; whether a program has
taken it away, or an older sheet has curly quotation marks instead, is the same to the reader.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256

from labapp.tasks.reconstruction.report.labels.names import Dial, Model, Name, NamedModels
from labapp.text_tables import MARK, AsItIs, write_csv

SHEET = "labels_to_rate.csv"
HELP = "labels_to_rate.txt"
COLUMNS = ("sheet", "label", "study", "model", "dial", "dimension", "name", "other_names")
RATED = "consistent"
ALONE = "no"
"""What stands for a name that nobody else's can agree with."""
OPEN, CLOSE = "“", "”"

INSTRUCTIONS = """\
How to mark names that participants agree on

{sheet} has one row for each name that a participant gave to a dial. The order was drawn, and
nothing says who gave a name.

1. Make a copy for each rater, for example ratings-A.csv and ratings-B.csv. Rate alone.
2. In each row compare "name" with "other_names", the names that other participants gave to the
   same dial of the same model. Write into the column "consistent":
     yes   the name says the same as at least one of the other names, in whatever words;
     no    it says something else than all of them, or nothing that can be compared.
   Rows without other names have "no" already: leave it there.
3. Change nothing else; rows may be sorted. Save as CSV in UTF-8, with commas, semicolons or tabs.
   A program that shows all in one column: open the file through its import of text, with commas.
4. Read the copies back, with the same sessions:
     labapp analyze PATH... --out DIR --ratings ratings-A.csv --ratings ratings-B.csv

A name counts as consistent where every rater says yes.
"""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the sheet."""

    model: Model
    dial: Dial
    name: Name

    @property
    def others(self) -> tuple[Name, ...]:
        return self.dial.others(self.name)

    @property
    def alone(self) -> bool:
        """Nobody else named the dial: the name can agree with none."""
        return not self.others


@dataclass(frozen=True, slots=True)
class Sheet:
    """Names in the order in which they are rated. id: of exactly these names; another sample or
    another name makes another sheet."""

    id: str
    lines: tuple[Line, ...]

    @property
    def by_label(self) -> dict[str, Line]:
        return {line.name.id: line for line in self.lines}

    def text(self) -> str:
        """As CSV with commas and a byte order mark, without which some spreadsheet programs do not
        take it for UTF-8."""
        stream = io.StringIO()
        rows = [
            (
                self.id,
                line.name.id,
                line.model.study,
                line.model.model,
                line.dial.number,
                line.dial.title,
                AsItIs(MARK + line.name.text),
                ", ".join(quoted(name.text) for name in line.others),
                ALONE if line.alone else "",
            )
            for line in self.lines
        ]
        write_csv(stream, (*COLUMNS, RATED), rows, end="\r\n")
        return "\ufeff" + stream.getvalue()


def quoted(text: str) -> str:
    """In curly quotation marks."""
    return f"{OPEN}{text}{CLOSE}"


def names_in(cell: str) -> tuple[str, ...]:
    """The names that a cell may stand for: without its mark, and as it is where a program has taken
    the mark away."""
    cell = cell.strip()
    return cell.removeprefix(MARK), cell.removeprefix(OPEN).removesuffix(CLOSE)


def draw(named_models: NamedModels) -> tuple[NamedModels, Sheet]:
    """The names with their ids, and the sheet.

    The order of the dials, and that of the names of each, are drawn by a hash of all names: the
    same sessions always give the same sheet.
    """
    keys = {
        _key(model, dial, name): (model, dial, name) for model, dial, name in named_models.names
    }
    mark = _hash(*sorted(keys))[:12]

    def drawn(key: str) -> tuple[str, str]:
        model, dial, _ = keys[key]
        return _hash(mark, model.study, model.model, str(dial.number)), _hash(mark, key)

    digits = max(3, len(str(len(keys))))
    ids = {
        key: f"N{place:0{digits}d}" for place, key in enumerate(sorted(keys, key=drawn), start=1)
    }

    def with_id(model: Model, dial: Dial, name: Name) -> Name:
        return replace(name, id=ids[_key(model, dial, name)])

    models = tuple(
        replace(model, dials=tuple(_drawn(model, dial, with_id) for dial in model.dials))
        for model in named_models.models
    )
    named = NamedModels(models, named_models.withheld)
    lines = sorted((Line(*name) for name in named.names), key=lambda line: line.name.id)
    return named, Sheet(f"S-{mark}", tuple(lines))


def _drawn(model: Model, dial: Dial, with_id: Callable[[Model, Dial, Name], Name]) -> Dial:
    names = (with_id(model, dial, name) for name in dial.names)
    return replace(dial, names=tuple(sorted(names, key=lambda name: name.id)))


def _key(model: Model, dial: Dial, name: Name) -> str:
    where = (model.study, model.model, str(dial.number), name.stage)
    return repr((*where, name.participant, name.session, name.text))


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()
