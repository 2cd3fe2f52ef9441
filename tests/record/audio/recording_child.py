"""A process that records until it is killed: python recording_child.py FOLDER

Prints each acknowledged block as a JSON line as soon as it is acknowledged.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from labapp.base.clock import SessionClock
from labapp.record.audio.devices import choose
from labapp.record.audio.recorder import Recorder
from labapp.record.events import Payload


def tell(payload: Payload) -> None:
    say(payload.kind, payload.as_dict())


def say(kind: str, payload: dict[str, Any]) -> None:
    """A line at once: `print` writes its end apart, and two threads tell things here."""
    sys.stdout.write(json.dumps({"kind": kind, "payload": payload}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    clock = SessionClock()
    recorder = Recorder(
        Path(sys.argv[1]), 1, choose(), emit=tell, from_perf_ns=clock.from_perf_ns, min_free_bytes=0
    )
    recorder.start()
    while True:
        time.sleep(0.02)
        level = recorder.level()
        say("level", {"frames": level.frames})
