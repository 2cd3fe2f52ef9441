"""The validator of Psych-DS, and its rules for files that can be checked without it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.helpers.journals import TEMPORARY

ARCHIVE = Path(__file__).resolve().parents[1] / "clients/psychds/psychds-validator.tar.xz"


@cache
def _unpacked() -> TemporaryDirectory[str]:
    folder = TemporaryDirectory(prefix="labapp-tests-psychds-", dir=TEMPORARY)
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder.name, filter="data")
    return folder


def issues(dataset: Path) -> tuple[bool, dict[str, str]]:
    """Whether the validator calls a dataset valid, and the severity of each issue by its key.

    Of a copy on the disk: Deno may not read what lies below /dev, as folders in memory do.
    """
    deno = Path(sys.executable).with_name("deno")
    script = Path(_unpacked().name, "psychds.mjs")
    offline = ("--no-remote", "--no-npm", "--deny-net")
    with TemporaryDirectory(prefix="labapp-tests-psychds-", dir=TEMPORARY) as folder:
        copy = shutil.copytree(dataset, Path(folder, dataset.name))
        done = subprocess.run(
            [deno, "run", "--allow-all", *offline, script, copy, "--json"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    return result["valid"], {each["key"]: each["severity"] for each in result["issues"]}
