"""No window sends a person to the terminal where there is an action for it in a window."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from labapp.base.messages import catalogue
from labapp.cli.main import command_tree

PACKAGE = Path(__file__).parents[2] / "labapp"

COMMANDS = "|".join(sorted(command_tree().commands))
SENDS = re.compile(rf"\blabapp ({COMMANDS})\b|\bterminal\b|command line|\{{command\}}", re.I)
WINDOW = re.compile(r"\b(Coding|Sessions|Study|Results) page\b|(coding|replay) window")
"""A sentence that says where the action is may name the command, too."""
ALLOWED = {
    "checklist.disk.data_open": "rights of folders are the computer's, and may need another user",
    "checklist.disk.private_open": "rights of folders are the computer's",
    "message.engine_install": "an extra is installed outside of a running program",
    "message.package_install": "an extra is installed outside of a running program",
    "replay.get_by": "an extra is installed outside of a running program",
    "transcribing.install": "an extra is installed outside of a running program",
    "message.unread_session": "no page lists a folder that cannot be read",
}
"""Sentences that name a command alone, by their ids, with why."""
CODING = ("code", "videos", "transcribe", "replay")
"""Commands whose every action is in a window."""


def test_windows_say_where_their_action_is() -> None:
    sending = {
        (key if isinstance(key, str) else key[0])
        for key, text in catalogue("en").texts().items()
        if SENDS.search(text) and not WINDOW.search(text)
    }
    assert sending == set(ALLOWED)


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """The sentences of errors in a module: what to do, what is wrong."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            for value in (*node.args, *(each.value for each in node.keywords)):
                if isinstance(value, ast.Constant | ast.JoinedStr | ast.BinOp):
                    texts = (n.value for n in ast.walk(value) if isinstance(n, ast.Constant))
                    yield node.lineno, "".join(text for text in texts if isinstance(text, str))


def test_errors_of_coding_name_the_window_first() -> None:
    names = re.compile(rf"\blabapp ({'|'.join(CODING)})\b")
    folders = (PACKAGE / "coding", PACKAGE / "ui" / "replay", PACKAGE / "ui" / "researcher")
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} {text}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for line, text in sentences(path)
        if names.search(text) and not WINDOW.search(text)
    ]
    assert not wrong
