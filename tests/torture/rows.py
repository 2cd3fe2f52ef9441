"""Resume a study in the windows after every kind of event of every kind of part.

    python -m tests.torture.rows STUDY FOLDER

Prints a JSON list a line: ["places", n]; ["trying", words] before each; ["done", words, problems,
seconds] after it.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from labapp.simulation.decoders import Decoders
from labapp.ui.qtapp import make_app
from tests.torture.rehearsal import cut, places, rehearse
from tests.torture.windows import go_on


def say(*words: Any) -> None:
    print(json.dumps(words), flush=True)


def main(study: str, folder: str) -> None:
    out = Path(folder)
    make_app()
    rehearsal = rehearse(study, out / "rehearsal", Decoders())
    rows: dict[int, list[str]] = {}
    for place in places(rehearsal):
        rows.setdefault(place.seq, []).append(str(place))
    say("places", len(rows), sum(map(len, rows.values())))
    for seq, words in sorted(rows.items()):
        say("trying", words[0])
        session = cut(rehearsal, seq, out / str(seq))
        outcome = go_on(session, rehearsal.strategy, out / "private", rehearsal.warm)
        say("done", words[0], outcome.problems, round(outcome.seconds, 1))
        if not outcome.problems:
            shutil.rmtree(out / str(seq))


if __name__ == "__main__":
    main(*sys.argv[1:])
