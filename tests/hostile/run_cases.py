"""Run cases of the corpus one after the other in this process, and tell of each what came out.

    python -m tests.hostile.run_cases [NAME …]

A line of JSON a case: its name, what it ended in, the text, the seconds, and the most memory that
this process ever had, in MB. A case that does not end is interrupted.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

from labapp.base.errors import LabappError
from tests.hostile.cases import CASES

PATIENCE_S = 20


class Hangs(BaseException):
    """It did not end."""


def run(name: str) -> dict[str, object]:
    case, _ = CASES[name]
    began = time.monotonic()
    ended, said = "ok", ""
    with tempfile.TemporaryDirectory(prefix="labapp-hostile-") as folder:
        signal.alarm(PATIENCE_S)
        try:
            case(Path(folder))
        except LabappError as error:
            ended, said = "told", error.what
        except Hangs:
            ended = "hangs"
        except BaseException as error:  # noqa: BLE001  (whatever it is, it is to be told here)
            ended, said = "traceback", f"{type(error).__name__}: {error}"
        finally:
            signal.alarm(0)
    seconds = round(time.monotonic() - began, 3)
    return {"name": name, "ended": ended, "said": said[:9000], "s": seconds, "peak_mb": _peak_mb()}


def _peak_mb() -> int:
    """The most memory that this program had, in MB. What `getrusage` says counts from the process
    that started it, which in a run of all tests is larger than any case."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


def _hangs(*_: object) -> None:
    raise Hangs


def main(names: list[str]) -> None:
    signal.signal(signal.SIGALRM, _hangs)
    for name in names or CASES:
        print(json.dumps(run(name)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
