"""Write the golden bundle anew after an intended change; look at the difference before committing:

python -m tests.golden.regenerate
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest import mock

from labapp.base import resources
from tests.helpers.golden_bundle import comparable, exported, write
from tests.helpers.journals import GOLDEN


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as temporary,
        mock.patch.object(resources, "models", return_value=GOLDEN / "models"),
    ):
        write(comparable(exported(Path(temporary))))


if __name__ == "__main__":
    main()
