"""Open bundles of every shipped study in PyBIDS, ancpbids and the BIDS validator:

python -m benchmarks.bids_readers

Two simulated participants a study, in a temporary folder. Prints what each program lists, and
ends with 1 where one of them finds an error. `tests/session/bids/test_bids_readers.py` does the
same with one study of each kind.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import ancpbids
import bids

from labapp.session.bids.export import export
from labapp.session.simulation.at_scale import simulate_at_scale
from labapp.study import loading
from tests.helpers.bids import validator_errors


def main() -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as temporary:
        for study in sorted(path.stem for path in loading.list_shipped()):
            folder = Path(temporary) / study
            sessions = simulate_at_scale(study, 2, "understanding", folder / "data", number=1)
            bundle = export(sessions, folder / "bundle")
            layout = bids.BIDSLayout(bundle)
            tasks = set(layout.get_tasks())
            entities = ancpbids.load_dataset(str(bundle)).query_entities()
            errors = validator_errors(bundle)
            same = entities["task"] == tasks and layout.get_sessions() == ["1"]
            wrong += bool(errors) or not same
            print(
                f"{study}: PyBIDS {', '.join(sorted(tasks))}; participants "
                f"{', '.join(layout.get_subjects())}; sessions {', '.join(layout.get_sessions())}; "
                f"ancpbids {'the same' if same else entities}; validator {len(errors)} errors"
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
