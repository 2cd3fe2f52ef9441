"""The golden bundle as text files that can be compared and kept in the repository.

What differs from machine to machine is taken out: the version of labapp, the time of the export,
and how this pyarrow lays out a Parquet file (its rows are kept instead).
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from labapp import __version__
from labapp.record.journal.arrow import rows_of
from labapp.record.journal.layout import MANIFEST
from labapp.session.bids.export import export
from tests.helpers.journals import GOLDEN, golden_session

TREE = GOLDEN / "bundle"
REGENERATE = "python -m tests.golden.regenerate"


def exported(root: Path) -> Path:
    """The golden session as a bundle; the caller points resources.models at the golden ones."""
    return export([golden_session(root / "data")], root / "bundle")


def comparable(bundle: Path) -> dict[str, str]:
    """Name -> text of everything in the bundle."""
    out = {}
    for path in sorted(bundle.rglob("*")):
        if path.is_dir():
            continue
        name = path.relative_to(bundle).as_posix()
        if path.suffix == ".parquet":
            rows = rows_of(path.read_bytes(), name)
            out[f"{name}.jsonl"] = "".join(json.dumps(row) + "\n" for row in rows)
        elif path.suffix == ".wav":
            out[f"{name}.sha256"] = hashlib.sha256(path.read_bytes()).hexdigest() + "\n"
        elif path.name == MANIFEST:
            content = json.loads(path.read_text())
            facts = {k: v for k, v in content.items() if k not in ("created", "manifest_sha256")}
            out[name] = _stable(json.dumps(facts | {"files": list(content["files"])}, indent=1))
        else:
            out[name] = _stable(path.read_text())
    return out


def _stable(text: str) -> str:
    for key in ("Version", "labapp"):
        text = text.replace(f'"{key}": "{__version__}"', f'"{key}": "VERSION"')
    return text.replace(f"labapp {__version__}.", "labapp VERSION.")


def write(tree: dict[str, str]) -> None:
    """Make these texts the golden ones."""
    shutil.rmtree(TREE, ignore_errors=True)
    for name, text in tree.items():
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        (TREE / name).write_text(text)


def kept() -> dict[str, str]:
    """The golden texts."""
    return {
        path.relative_to(TREE).as_posix(): path.read_text()
        for path in sorted(TREE.rglob("*"))
        if path.is_file()
    }
