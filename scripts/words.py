"""Compile the words of labapp: `assets/words/<language>.po` into the `.mo` that is read.

    python scripts/words.py            compile what is older than its .po
    python scripts/words.py --tidy     first write each .po in its usual form: sorted, unwrapped

A sentence has an id, such as `home.start`; `en.po` says it in English. A translation is refused
where it names other fields than English does, or has not all forms of a plural. The wheel's build,
`make setup` and a checkout in use run this; Babel is needed here and nowhere else.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Formatter

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po, write_po

WORDS = Path(__file__).parents[1] / "assets" / "words"
ENGLISH = "en"
HEADER = """msgid ""
msgstr ""
"Language: {language}\\n"
"Plural-Forms: {plurals}\\n"
"Content-Type: text/plain; charset=utf-8\\n"

"""


def read(path: Path) -> Catalog:
    """Read the sentences of a file. Raises PoFileError or ValueError if it is not a catalogue."""
    with path.open("rb") as file:
        return read_po(file, abort_invalid=True)


def usual_form(catalog: Catalog) -> str:
    """The text of a `.po` file: sorted by id, a sentence a line."""
    head = HEADER.format(language=catalog.locale_identifier, plurals=catalog.plural_forms)
    body = io.BytesIO()
    write_po(body, catalog, width=0, omit_header=True, sort_output=True)
    return head + body.getvalue().decode().strip("\n") + "\n"


def forms(message: Message) -> tuple[str, ...]:
    """The sentence, or each form of its plural."""
    return (message.string,) if isinstance(message.string, str) else tuple(message.string)


def fields(form: str) -> set[str]:
    """The {fields} of a sentence. Raises ValueError for a single brace."""
    return {field for _, field, *_ in Formatter().parse(form) if field is not None}


def faults(catalog: Catalog, english: Catalog) -> Iterator[str]:
    """What is wrong with each sentence of a catalogue. One that is missing or empty is no fault: it
    is said in English."""
    for message in catalog:
        if not message.id:
            continue
        key = message.id[0] if message.pluralizable else message.id
        model = english.get(key)
        if model is None or model.pluralizable != message.pluralizable:
            yield f"{key}: English has no such sentence, or one with other plurals"
        elif any(forms(message)) and not all(forms(message)):
            yield f"{key}: a form of its plural is missing"
        elif all(forms(message)):
            yield from (f"{key}: {why}" for why in _other_fields(message, model))


def _other_fields(message: Message, model: Message) -> Iterator[str]:
    wanted = fields(forms(model)[-1])
    free = {"n"} if message.pluralizable else set()
    for form in forms(message):
        try:
            other = fields(form) ^ wanted
        except ValueError as error:
            yield f"{error}; write a brace as {{{{ or }}}}"
        else:
            if other - free:
                yield f"it must name these fields: {', '.join(sorted(wanted)) or 'none'}"


def compile_file(path: Path, english: Catalog) -> list[str]:
    """Compile a `.po` file if it has no faults. Returns the faults."""
    try:
        catalog = read(path)
    except (PoFileError, ValueError) as error:
        return [str(error)]
    wrong = list(faults(catalog, english))
    if not wrong:
        for message in list(catalog):
            if message.id and not any(forms(message)):
                catalog.delete(message.id)
        part = path.with_suffix(f".{os.getpid()}.part")
        with part.open("wb") as file:
            write_mo(file, catalog)
        # As old as its source, whatever the clock says.
        os.utime(part, ns=(path.stat().st_mtime_ns,) * 2)
        part.replace(path.with_suffix(".mo"))
    return wrong


def is_stale(path: Path) -> bool:
    """Whether a `.po` was changed since it was compiled."""
    compiled = path.with_suffix(".mo")
    return not compiled.exists() or compiled.stat().st_mtime_ns < path.stat().st_mtime_ns


def main(arguments: Sequence[str]) -> int:
    files = sorted(WORDS.glob("*.po"))
    if "--tidy" in arguments:
        for path in files:
            path.write_text(usual_form(read(path)), "utf-8")
    stale = [path for path in files if is_stale(path)]
    if not stale:
        return 0
    english = read(WORDS / f"{ENGLISH}.po")
    wrong = [f"{path}: {why}" for path in stale for why in compile_file(path, english)]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
