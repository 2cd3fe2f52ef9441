"""What a plan takes of H1: slopes on OIS, and of each that there is none of, why."""

from __future__ import annotations

from pathlib import Path

from labapp.tasks.concept_repair.report import contents
from tests.helpers import repairers


def test_why_there_is_no_slope_is_what_the_study_leaves_out(tmp_path: Path) -> None:
    """Where one change is given with each picture nothing is set freely; where nothing is foretold,
    there is no wrong answer."""
    why = {
        instruction: {
            slope.name.split(": ")[1].split(" by ")[0]: slope.why
            for slope in contents.slopes(
                repairers.cohort(
                    tmp_path / instruction, ["careful"], instruction=instruction, foresee=foresee
                ).included()
            )
        }
        for instruction, foresee in (("foresight", "all"), ("repair", "none"))
    }
    given, free = why["foresight"], why["repair"]
    assert "nothing that is right is set" in given["a harm"]
    assert given["an answer foretold wrongly"] == ""
    assert free["an answer foretold wrongly"] == "no answer is foretold in these pictures"
    assert "coded by nobody" in given["a surprise after a setting"]
