"""A paragraph on methods, to be taken into a paper: what was done, with whom, with which versions.

Every sentence is of what the sessions say of themselves; what they do not say (who was asked, why)
is for the authors to add.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from math import isclose

import pandas as pd

from labapp import __version__
from labapp.analysis.course import true_date
from labapp.analysis.formats import clock, count, decimal
from labapp.analysis.inclusion import RULES
from labapp.analysis.judging.groups import groups_of
from labapp.analysis.reconstruction.results import Found
from labapp.analysis.tables import Tables

USED = ("numpy", "scipy", "statsmodels", "scikit-learn", "pandas", "matplotlib")
"""Packages whose versions a reader may need to get the same numbers."""
TASKS = {
    "reconstruction": "reconstructed target pictures by turning dials",
    "calibration": "turned dials without a target mark and said when they were far away and when "
    "close enough",
    "single-dimension-traversals": "chose the value of one dimension, shown as latent traversals",
    "single-dimension-exemplars": "chose the value of one dimension, shown by synthetic exemplars",
    "heatmap-distinction": "found the class of photos explained by heatmaps",
    "prototype-distinction": "found the class of photos explained by prototypes",
    "prototype-agreement": "judged predictions explained by prototypes",
    "path-distinction": "decided the last steps of a decision tree",
    "path-agreement": "judged predictions explained by the path through a tree",
    "path-first-step": "named the first step of a path through a tree that they disagreed with",
    "unmasking": "named what masked pictures showed",
}
"""What participants did, by task."""
_DESIGNS = {
    True: "repeated-measures ANOVA and paired t tests where participants met several models",
    False: "one-way ANOVA and independent t tests with pooled variance where each met one",
}
"""Tests within participants, and between them."""


def methods(tables: Tables, study: str, compared: Sequence[Found] = ()) -> str:
    """The paragraph on one study; tables: its rows, all sessions; compared: what groups of its
    models say."""
    sentences = [
        *_sample(tables, study),
        *_replicated(tables),
        *_tasks(tables),
        *_lengths(tables),
        *_recording(tables),
        *_tests(compared),
        _software(),
    ]
    return " ".join(sentences)


def _sample(tables: Tables, study: str) -> Iterator[str]:
    sessions = tables.participants
    recruited = sessions[sessions["outcome"] != "declined"]
    included = recruited[recruited["included"]]
    versions = sorted({str(one) for one in sessions["study_version"].dropna()})
    word = "version" if len(versions) == 1 else "versions"
    people = recruited["participant"].nunique()
    yield (
        f"In the study “{study}” ({word} {', '.join(versions)} of its file) "
        f"{count(people, 'participant')} took part in {count(len(recruited), 'session')}; "
        f"{len(included)} count."
    )
    simulated = int(sessions["simulated"].sum())
    if simulated:
        yield (
            f"Simulated, with programs and not people taking part: {simulated} of "
            f"{count(len(sessions), 'session')}."
        )
    reasons = [
        RULES.get(rule, rule)
        for said in recruited.loc[~recruited["included"], "excluded_because"].dropna()
        for rule in str(said).split(", ")
        if rule
    ]
    if reasons:
        counts = pd.Series(reasons).value_counts(sort=False)
        told = "; ".join(f"{rule}: {n}" for rule, n in counts.items())
        yield f"Not counted, by the rules that the study declares and were not met: {told}."
    times = [str(time) for time in recruited["started_utc"].dropna()]
    days = sorted({time[:10] for time in times if true_date(time)})
    if days:
        when = f"on {days[0]}" if days[0] == days[-1] else f"between {days[0]} and {days[-1]}"
        yield f"Sessions were held {when} (UTC)."
    if moved := sum(not true_date(time) for time in times):
        yield (
            f"Of {count(moved, 'session')} the day is not known: de-identified copies were read, "
            "in which every date is moved."
        )


def _replicated(tables: Tables) -> Iterator[str]:
    """Which published study this one repeats, and that it was run in another way."""
    names = ["replicates_paper", "replicates_study", "replicates_run"]
    for paper, study, run in tables.participants[names].dropna().drop_duplicates().to_numpy():
        yield f"It repeats the study {study} of paper {paper}."
        if run == "crowd":
            yield (
                "That was a crowd study: people took part on their own, over the internet. Here "
                "they took part in a lab, one at a time, with a moderator."
            )


def _lengths(tables: Tables) -> Iterator[str]:
    """How long judged explanations are beside those of the paper."""
    for group in groups_of(tables.included()):
        if group.length_sentence:
            yield group.length_sentence


def _tasks(tables: Tables) -> Iterator[str]:
    stages = tables.stages
    for task, some in stages.groupby("task", sort=True):
        asked = sorted({int(n) for n in some["n_planned"].dropna()})
        models = sorted({str(model) for model in some["model"]})
        shown = "–".join(str(n) for n in dict.fromkeys((asked[0], asked[-1]))) if asked else "no"
        sentence = (
            f"Participants {TASKS.get(str(task), str(task))} ({shown} questions a stage; "
            f"{', '.join(models)})"
        )
        yield f"{sentence}{_threshold(tables.trials, str(task))}."
    per = stages.groupby(["study", "participant", "session"])["stage_number"].nunique()
    if not per.empty and per.max() > 1:
        orders = tables.participants["models"].nunique()
        yield (
            f"Each session had up to {per.max()} stages, one after another, "
            f"in {count(int(orders), 'order')} of models over the sessions."
        )


def _threshold(trials: pd.DataFrame, task: str) -> str:
    """The alignment that solved a question, where questions are solved."""
    own = trials[(trials["task"] == task) & (trials["role"] == "stage")]
    wanted = sorted({float(one) for one in own["target_alignment"].dropna()})
    if not wanted:
        return ""
    told = " and ".join(_percent(one) for one in wanted)
    return f"; a question was solved at an alignment of {told} %"


def _percent(share: float) -> str:
    value = 100 * share
    return decimal(value, 0 if isclose(value, round(value), abs_tol=1e-9) else 1)


def _recording(tables: Tables) -> Iterator[str]:
    sessions = tables.participants
    included = sessions[sessions["included"]]
    if not included.empty:
        yield (
            f"The sessions that count took {clock(float(included['duration_s'].median()))} "
            "(min:s) of working time in the median; pauses and interruptions are taken out of "
            "every duration."
        )
    presentations = sorted({str(one).replace("_", " ") for one in sessions["presentation"]})
    languages = sorted({str(one) for one in sessions["language"]})
    yield from _blinding(sessions)
    yield (
        f"Presentation: {', '.join(presentations)}; language of the texts: {', '.join(languages)}."
    )
    if sound := int((sessions["sound_s"] > 0).sum()):
        yield (
            f"Voice was recorded in {sound} of {count(len(sessions), 'session')}, on one clock "
            "with every action."
        )
    else:
        yield "No voice was recorded."
    told = sessions["app_versions"].dropna()
    recorded = sorted({part for some in told for part in str(some).split(", ") if part})
    if recorded:
        yield f"Recorded with labapp {', '.join(recorded)}."


def _blinding(sessions: pd.DataFrame) -> Iterator[str]:
    """Whether moderators knew what was on the screen; nobody moderates a simulated session without
    windows."""
    known = sessions[sessions["blind"].notna()]
    if not known.empty:
        blind = known[known["blind"]]
        lifted = int(blind["unblinded_s"].notna().sum())
        before = f", {lifted} of them until they were unblinded" if lifted else ""
        yield (
            "Moderators were blind to the representations in "
            f"{len(blind)} of {count(len(known), 'session')}{before}."
        )
    silent = int((sessions["blind"].isna() & ~sessions["simulated"]).sum())
    if silent:
        told = count(silent, "session")
        yield f"Whether the moderator was blind is not recorded for {told}."


def _tests(compared: Sequence[Found]) -> Iterator[str]:
    """How models were compared, where a test was made."""
    made = [one for one in compared if any(metric.tests for metric in one.compared)]
    if not made:
        return
    designs = {one.group.within for one in made}
    tests = " and ".join(_DESIGNS[within] for within in (True, False) if within in designs)
    n = made[0].n_tests
    yield (
        f"Models were compared by {tests}; p is two-sided, and Bonferroni's correction is over the "
        f"{count(n, 'test')} of the whole analysis (threshold {made[0].threshold:.2g})."
    )


def _software() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in USED)
    return f"Analysed with labapp {__version__} (Python {platform.python_version()}, {packages})."
