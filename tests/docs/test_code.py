"""The blocks of code on pages that nothing carries out: each can at least be read.

Recipes and tutorials are followed instead (tests/recipes, test_tutorials.py).
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from labapp.base.documents import parse_yaml

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md")))
    if page.parent.name not in ("recipes", "tutorials")
]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
READ = {
    "python": lambda code: compile(code, "page", "exec"),
    # As labapp reads what people write: what they copy from a page is read, too.
    "yaml": lambda code: parse_yaml(Path("block"), code.encode()),
    "json": json.loads,
    "toml": tomllib.loads,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_code_can_be_read(page: Path) -> None:
    content = page.read_text("utf-8")
    assert content.count("\n```") % 2 == 0
    for language, code in BLOCK.findall(content):
        assert language in (*READ, "", "sh", "text"), language
        if language in READ:
            READ[language](code)
