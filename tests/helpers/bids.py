"""What other people's programs make of a bundle."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def validator_errors(bundle: Path) -> list[dict[str, Any]]:
    """The errors that the BIDS validator finds. It runs offline: the schema is built into it."""
    binary = Path(sys.executable).with_name("bids-validator-deno")
    done = subprocess.run(
        [str(binary), "--format", "json", "--max-rows", "-1", str(bundle)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    issues = json.loads(done.stdout)["issues"]["issues"]
    return [issue for issue in issues if issue["severity"] == "error"]
