"""Resume a study in the windows after every kind of event of every kind of part.

    python -m tests.torture.rows STUDY FOLDER [MOST]

most: so many rows, evenly among all; by default all of them.
Prints a JSON list a line: ["places", n]; ["trying", words] before each; ["done", words, problems,
seconds] after it.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from labapp.session.simulation.simulation_job import Decoders
from labapp.ui.qtapp import make_app
from tests.torture.rehearsal import cut, places, rehearse
from tests.torture.windows import go_on


def say(*words: Any) -> None:
    print(json.dumps(words), flush=True)


def main(study: str, folder: str, most: str = "") -> None:
    out = Path(folder)
    make_app()
    rehearsal = rehearse(study, out / "rehearsal", Decoders())
    rows: dict[int, list[str]] = {}
    for place in places(rehearsal):
        rows.setdefault(place.seq, []).append(str(place))
    chosen = sorted(rows.items())
    if most:
        every = max(1.0, len(chosen) / int(most))
        chosen = [chosen[int(number * every)] for number in range(min(int(most), len(chosen)))]
    say("places", len(chosen), sum(len(words) for _, words in chosen))
    for seq, words in chosen:
        say("trying", words[0])
        session = cut(rehearsal, seq, out / str(seq))
        outcome = go_on(session, rehearsal.strategy, out / "private", rehearsal.warm)
        say("done", words[0], outcome.problems, round(outcome.seconds, 1))
        if not outcome.problems:
            shutil.rmtree(out / str(seq))


if __name__ == "__main__":
    main(*sys.argv[1:])
