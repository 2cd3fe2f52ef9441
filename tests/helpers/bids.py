"""What other people's programs make of a bundle."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def validated(bundle: Path) -> dict[str, Any]:
    """What the BIDS validator says of a bundle. It runs offline: the schema is built into it.

    Of a copy on the disk: it may not read what lies below /dev, as folders in memory do.
    """
    binary = Path(sys.executable).with_name("bids-validator-deno")
    with tempfile.TemporaryDirectory(prefix="labapp-bids-") as folder:
        copy = shutil.copytree(bundle, Path(folder) / bundle.name)
        done = subprocess.run(
            [str(binary), "--format", "json", "--max-rows", "-1", str(copy)],
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == 0 or errors_in(result), done.stderr
    return result


def errors_in(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The errors among what it says."""
    return [issue for issue in result["issues"]["issues"] if issue["severity"] == "error"]


def validator_errors(bundle: Path) -> list[dict[str, Any]]:
    """The errors that the BIDS validator finds."""
    return errors_in(validated(bundle))


def rows(bundle: Path, name: str) -> list[dict[str, str]]:
    """A table of a bundle, each column of which is described beside it. name: without an ending."""
    with (bundle / f"{name}.tsv").open(encoding="utf-8", newline="") as stream:
        names, *lines = csv.reader(stream, delimiter="\t")
    assert len(set(names)) == len(names)
    described = json.loads((bundle / f"{name}.json").read_text("utf-8"))
    assert set(names) <= set(described)
    return [dict(zip(names, line, strict=True)) for line in lines]
