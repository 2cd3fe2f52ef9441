"""kill -9 at random moments of simulated sessions: what is lost, and whether they still complete.

    python -m benchmarks.crash [--kills 50] [--seed 1] [--pace fast] [--json]

Each session runs in real time in a process of its own, with a real journal and a sound file fed by
a synthetic microphone, is killed up to four times, recovered, resumed, and left to complete. After
every kill everything acknowledged must be there and the sound must be what was heard; at the end
the session and its bundle must verify. Run from the top of the checkout.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from tests.crash.kills import Loss, kinds_of, tell

SPAN_S = {"fast": 7.0, "hasty": 2.8, "rushed": 1.7}
"""About the length of a session that is not killed."""

EVENTS_LIMIT_S, SOUND_LIMIT_S = 0.25, 1.0


def spread(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    return {
        "median": round(float(np.median(values)), 3),
        "p95": round(float(np.percentile(values, 95)), 3),
        "max": round(max(values), 3),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pace", choices=SPAN_S, default="hasty")
    parser.add_argument("--dir", type=Path, help="a folder on the disk to use")
    parser.add_argument("--json", action="store_true", help="one JSON value and nothing else")
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)
    losses: list[Loss] = []
    sessions = 0
    acknowledged = 0
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="labapp-crash-", dir=options.dir) as folder:
        data = Path(folder)
        while len(losses) < options.kills:
            sessions += 1
            moments = [
                rng.uniform(0.0, SPAN_S[options.pace])
                for _ in range(min(rng.randint(1, 4), options.kills - len(losses)))
            ]
            story = tell(data, f"P{sessions:02d}", moments, options.pace)
            losses += story.losses
            acknowledged += len(story.acknowledged)
            if kinds_of(story.path).count("session.completed") != 1:
                raise SystemExit(f"{story.path.name} did not complete")
            if not (report := verify(story.path)).ok:
                raise SystemExit(f"{story.path.name} does not verify: {report.problems}")
            bundle = export([story.path], data / f"bundle-{sessions}")
            if not (report := verify(bundle)).ok:
                raise SystemExit(f"the bundle of {story.path.name}: {report.problems}")
            if not options.json:
                print(f"session {sessions}: killed {len(story.losses)} times, completed, verified")
    sounds = [loss.sound_s for loss in losses if loss.sound_s is not None]
    summary = {
        "kills": len(losses),
        "sessions": sessions,
        "acknowledged_events": acknowledged,
        "acknowledged_lost": 0,
        "events_lost_s": spread([loss.events_s for loss in losses]),
        "events_lost": spread([float(loss.events) for loss in losses]),
        "kinds_lost": dict(Counter(kind for loss in losses for kind in loss.kinds)),
        "sound_lost_s": spread(sounds),
        "killed_after": dict(Counter(loss.last_kind for loss in losses)),
        "took_s": round(time.perf_counter() - began),
    }
    print(json.dumps(summary, indent=2))
    within_limit = max(loss.events_s for loss in losses) <= EVENTS_LIMIT_S
    return 0 if within_limit and max(sounds) <= SOUND_LIMIT_S else 1


if __name__ == "__main__":
    sys.exit(main())
