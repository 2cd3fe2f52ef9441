"""Codebooks changed by clicks: codes added, renamed, merged, coloured, retired and deleted.

A codebook's file is changed where something is another now, so that its comments and its order
stay. Each change is read back and compared with what was wanted before it is taken. What is saved
is the next version; the one before is kept with the study's codes.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import yaml

from labapp.base import durable
from labapp.base.documents import parse_yaml
from labapp.base.errors import AnnotationError
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.codebook import COLOURS, Codebook
from labapp.coding.annotations.model import MODERATOR
from labapp.coding.annotations.simulated import CODEBOOK
from labapp.coding.annotations.store import study_sessions

Document = dict[str, Any]
FIELDS = ("name", "key", "colour", "when", "not", "retired")
"""Of a code, those that can be set."""


def path_of(study: Path, codebook: Codebook) -> Path:
    """The file of a codebook in its study. Raises AnnotationError if it is not there."""
    for pattern in codebooks.PATTERNS:
        for path in sorted(study.glob(pattern)):
            if codebooks.read(path).id == codebook.id:
                return path
    raise AnnotationError(
        Message("codebook_gone", name=repr(codebook.id), study=str(study)),
        todo=Message("codebook_gone_todo"),
    )


def count_uses(study: Path) -> Counter[str]:
    """How often each code was given in a study, by any rater and in any version, or holds since
    something was settled. study: the folder of its sessions."""
    uses: Counter[str] = Counter()
    for session in study_sessions(study).usable:
        for name, rater in session.annotations.raters.items():
            if name != MODERATOR:  # notes are no codes of a codebook
                uses.update(mark.code for mark in rater.marks)
        for settled in session.annotations.settlements:
            uses.update(mark.code for mark in settled.marks)
    return uses


def make_blank(study: Path, tier_title: str, code_name: str) -> Path:
    """Write a codebook with one tier and one code into a study that has none. Raises
    AnnotationError."""
    path = study / CODEBOOK
    name = re.sub(r"[^a-z0-9]+", "-", study.name.casefold()).strip("-") or "codebook"
    text = (
        f"codebook: {name if name[0].isalpha() else f'codebook-{name}'}\n"
        "version: 1\n"
        "tiers:\n"
        f"  {_word(tier_title, ())}: "
        f"{{title: {_scalar(tier_title)}, exclusive: true, optional: true}}\n"
        "codes:\n"
        f"  - {{id: {_word(code_name, ())}, tier: {_word(tier_title, ())}, "
        f'key: "{code_name[0].casefold()}", name: {_scalar(code_name)}}}\n'
    )
    codebooks.parse(text.encode(), path)
    if files.exists(path):
        raise AnnotationError(
            Message("codebook_there", path=str(path)), todo=Message("codebook_there_todo")
        )
    _replace(path, text.encode())
    return path


class CodebookDraft:
    """The next version of a codebook, until it is saved.

    Parameters
    ----------
    study : the folder of its sessions.
    codebook : any version of it; the one that its file has now is changed.

    Attributes
    ----------
    codebook : as it would be saved.
    """

    def __init__(self, study: Path, codebook: Codebook) -> None:
        """Raises AnnotationError if its file is not there or cannot be read."""
        self._study = study
        self._path = path_of(study, codebook)
        try:
            content = files.content(self._path, codebooks.LARGEST)
        except OSError as error:
            why = error.strerror or str(error)
            raise AnnotationError(
                Message("codebook_unreadable", path=str(self._path), why=why)
            ) from error
        self.codebook = self.before = codebooks.parse(content, self._path)
        self._text = content.decode("utf-8-sig")
        self._as_read = content

    @property
    def changed(self) -> bool:
        """Whether anything is different from the file."""
        return self._text.encode() != self._as_read

    # --- what is changed --------------------------------------------------------------------------

    def set_field(self, code_id: str, key: str, value: str) -> None:
        """Set a field of a code, see `FIELDS`; an empty value takes it away. Raises
        AnnotationError if there is no such code or the value is not allowed."""
        place = self._place(code_id)

        def change(document: Document) -> None:
            code = document["codes"][place]
            code.pop(key, None)
            if value:
                code[key] = value

        node = self._item(place)
        self._take(_set(self._text, node, key, _scalar(value) if value else None), change)

    def add_code(self, tier: str, name: str) -> str:
        """Add a code at the end of the list, with a free letter and colour; returns its id. Raises
        AnnotationError if its name gives the id of one that there is or was."""
        code_id = _word(name, ())
        if self.codebook.code(code_id) or code_id in self.codebook.successors:
            raise AnnotationError(
                Message("code_there", code=code_id), todo=Message("code_there_todo")
            )
        taken = [code.colour for code in self.codebook.codes if code.tier == tier]
        fields = {
            "id": code_id,
            "tier": tier,
            "name": name,
            "colour": str(min(COLOURS, key=taken.count)),
        }
        letters = [letter for letter in name.casefold() if letter in ascii_lowercase]
        free = (at for at in (*letters, *ascii_lowercase) if not self.codebook.by_key(tier, at))
        if key := next(free, ""):
            fields["key"] = key
        known = self.codebook.tier(tier)
        if known is not None and known.on == "spans":
            fields["kind"] = "span"
        text = _append_item(self._text, self._node("codes"), _flow(fields))
        self._take(text, lambda document: document["codes"].append(fields))
        return code_id

    def add_tier(self, title: str, *, exclusive: bool, spans: bool, optional: bool = True) -> str:
        """Add a group of codes; returns its name. A code for it has to be added, too."""
        name = _word(title, [tier.name for tier in self.codebook.tiers])
        fields: Document = {"title": title}
        fields |= {"on": "spans"} if spans else {}
        fields |= {"exclusive": True} if exclusive else {}
        fields |= {"optional": True} if optional else {}
        text = _append_pair(self._text, self._node("tiers"), name, _flow(fields))
        self._take(text, lambda document: document["tiers"].update({name: fields}))
        return name

    def merge(self, old: str, into: str) -> None:
        """Let one code be a part of another one of its tier from now on. What was coded with it
        follows, see `labapp.coding.annotations.marks.MarksFile.follow`. Raises AnnotationError."""
        code, other = self.codebook.code(old), self.codebook.code(into)
        if code is None or other is None or other.retired or old == into:
            raise AnnotationError(Message("code_unknown_here", code=into))
        if (code.tier, code.kind) != (other.tier, other.kind):
            raise AnnotationError(
                Message("merge_tiers", code=code.name, other=other.name),
                todo=Message("merge_tiers_todo"),
            )
        before = self._text, self.codebook
        try:
            for each in self.codebook.codes:
                if each.parent == old:
                    self._set_parent(each.id, "" if each.id == into else into)
            self._remove(old, merged=into)
        except AnnotationError:
            self._text, self.codebook = before
            raise

    def remove(self, code_id: str) -> None:
        """Delete a code that nobody gave; see `count_uses`. Raises AnnotationError."""
        if len(self.codebook.codes) == 1:
            raise AnnotationError(Message("code_last"), todo=Message("code_last_todo"))
        self._remove(code_id)

    # --- saving -----------------------------------------------------------------------------------

    def save(self) -> Codebook:
        """Write the file, as the next version where anything differs. Raises AnnotationError if
        somebody else changed the file since, or it cannot be written; nothing is changed then."""
        if not self.changed:
            return self.before
        version = self.before.version + 1

        def change(document: Document) -> None:
            document["version"] = version

        root = _compose(self._text)
        self._take(_set(self._text, root, "version", str(version)), change)
        try:
            now = files.content(self._path, codebooks.LARGEST)
        except OSError:
            now = b""
        if now != self._as_read:
            raise AnnotationError(
                Message("codebook_changed", path=str(self._path)),
                todo=Message("codebook_changed_todo"),
            )
        codebooks.store_version(self._study, self.before)
        _replace(self._path, self._text.encode())
        self._as_read = self._text.encode()
        self.before = self.codebook
        return self.codebook

    # --- the text ---------------------------------------------------------------------------------

    def _take(self, text: str, change: Callable[[Document], object]) -> None:
        """Take a changed text that says exactly what is wanted. Raises AnnotationError."""
        wanted = copy.deepcopy(self._document(self._text))
        change(wanted)
        made = codebooks.parse(text.encode(), self._path)  # says every mistake
        if self._document(text) != wanted:
            raise AnnotationError(
                Message("codebook_form"), todo=Message("codebook_form_todo", path=str(self._path))
            )
        self._text, self.codebook = text, made

    def _document(self, text: str) -> Document:
        document: Document = parse_yaml(self._path, text.encode(), AnnotationError).value
        return document

    def _place(self, code_id: str) -> int:
        places = [i for i, code in enumerate(self.codebook.codes) if code.id == code_id]
        if not places:
            raise AnnotationError(Message("code_unknown_here", code=code_id))
        return places[0]

    def _node(self, key: str) -> Any:
        return next(v for k, v in _compose(self._text).value if k.value == key)

    def _item(self, place: int) -> Any:
        return self._node("codes").value[place]

    def _set_parent(self, code_id: str, parent: str) -> None:
        place = self._place(code_id)

        def change(document: Document) -> None:
            document["codes"][place].pop("parent")
            if parent:
                document["codes"][place]["parent"] = parent

        self._take(_set(self._text, self._item(place), "parent", parent or None), change)

    def _remove(self, code_id: str, merged: str = "") -> None:
        place = self._place(code_id)
        text = _remove_item(self._text, self._node("codes"), place)

        def change(document: Document) -> None:
            del document["codes"][place]
            if merged:
                document.setdefault("merged", {})[code_id] = merged

        if merged:
            root = _compose(text)
            known = next((v for k, v in root.value if k.value == "merged"), None)
            if known is None:
                text = _append_pair(text, root, "merged", f"{{{code_id}: {merged}}}")
            else:
                text = _append_pair(text, known, code_id, merged)
        self._take(text, change)


def with_code(study: Path, codebook: Codebook, tier: str, name: str) -> tuple[Codebook, str]:
    """Add a code to a tier of a codebook's file; returns the next version and the code's id.
    Raises AnnotationError."""
    draft = CodebookDraft(study, codebook)
    code_id = draft.add_code(tier, name)
    return draft.save(), code_id


# --- YAML as text ---------------------------------------------------------------------------------


def _compose(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _word(name: str, taken: Any) -> str:
    """An id of letters, digits and underscores, of a name."""
    word = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_") or "code"
    word = word if word[0].isalpha() else f"code_{word}"
    number, made = 2, word
    while made in taken:
        made, number = f"{word}_{number}", number + 1
    return made


def _scalar(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _flow(fields: Mapping[str, object]) -> str:
    plain = {"id", "tier", "kind", "on"}
    pairs = (f"{k}: {v if k in plain else _scalar(v)}" for k, v in fields.items())
    return f"{{{', '.join(pairs)}}}"


def _end(node: Any) -> int:
    """Where what is written of a node ends: that of a block does where its last part does."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _line_end(text: str, at: int) -> int:
    """The end of the line of a place: behind a block of text it has ended already."""
    if at and text[at - 1] == "\n":
        return at - 1
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _set(text: str, node: Any, key: str, value: str | None) -> str:
    """A mapping's key set to a text of YAML, or taken away."""
    for place, (name, held) in enumerate(node.value):
        if name.value != key:
            continue
        begin, end = held.start_mark.index, _end(held)
        if value is not None:
            tail = "\n" if text[begin:end].endswith("\n") else ""
            return text[:begin] + value + tail + text[end:]
        if node.flow_style:
            if place:
                return text[: _end(node.value[place - 1][1])] + text[end:]
            after = node.value[1][0].start_mark.index if len(node.value) > 1 else end
            return text[: name.start_mark.index] + text[after:]
        first = text.rfind("\n", 0, name.start_mark.index)
        return text[:first] + text[_line_end(text, end) :]
    return text if value is None else _append_pair(text, node, key, value, first=True)


def _append_pair(text: str, node: Any, key: str, value: str, *, first: bool = False) -> str:
    """A pair added to a mapping: at its end, or behind its first pair."""
    if node.flow_style or not node.value:
        at = node.end_mark.index - 1
        return f"{text[:at].rstrip()}{', ' if node.value else ''}{key}: {value}{text[at:]}"
    column = node.value[0][0].start_mark.column
    at = _line_end(text, _end(node.value[0 if first else -1][1]))
    return f"{text[:at]}\n{' ' * column}{key}: {value}{text[at:]}"


def _append_item(text: str, node: Any, item: str) -> str:
    """An item added at the end of a sequence."""
    if node.flow_style:
        at = node.end_mark.index - 1
        return f"{text[:at].rstrip()}, {item}{text[at:]}"
    at = _line_end(text, _end(node))
    return f"{text[:at]}\n{' ' * node.start_mark.column}- {item}{text[at:]}"


def _remove_item(text: str, node: Any, place: int) -> str:
    item = node.value[place]
    if node.flow_style:
        if place:
            return text[: _end(node.value[place - 1])] + text[_end(item) :]
        return text[: item.start_mark.index] + text[node.value[1].start_mark.index :]
    first = text.rfind("\n", 0, item.start_mark.index)
    return text[:first] + text[_line_end(text, _end(item)) :]


def _replace(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.draft")
    try:
        durable.write(draft, content)
        draft.replace(path)
        durable.sync_folder(path.parent)
    except OSError as error:
        raise AnnotationError(
            Message("codebook_unwritten", path=str(path), why=error.strerror or str(error)),
            todo=Message("make_room_or_rights"),
        ) from error
