"""Every number of a plan as rows of tables: what is written as CSV and told as JSON."""

from __future__ import annotations

from typing import Any

from labapp.planning.folding import BEST
from labapp.planning.needs import GOALS, SIZES
from labapp.planning.normal import power_of
from labapp.planning.plan import Plan
from labapp.planning.thresholds import TRIES, UNDERSTANDS
from labapp.planning.waiting import quantile

MIXTURE = "mixture"
Row = dict[str, Any]
RAW = ("alignments", "questions", "stages")
"""Tables with a row an observation: files only."""


def tables(plan: Plan) -> dict[str, list[Row]]:
    """Rows by table: the recommendations, then what they rest on.

    Alignments and shares are 0-1, times in seconds; strategy `mixture`: each strategy by its share;
    n_participants: of the study, or of each model where a participant meets one.
    """
    return {
        "thresholds": _thresholds(plan),
        "waiting": _waiting(plan),
        "lengths": [
            {
                "strategy": one.strategy or MIXTURE,
                "sessions": one.n,
                "median_s": one.median_s,
                "ninety_percent_s": one.ninety_s,
            }
            for one in plan.lengths
        ],
        "completion": [
            {
                "model": one.model,
                "strategy": one.strategy or MIXTURE,
                "participants": one.n,
                "mean": one.mean,
                "sd": one.sd,
            }
            for one in plan.completions
        ],
        "needs": _needs(plan),
        "power": _power(plan),
        "mixtures": _mixtures(plan),
        "alignments": _alignments(plan),
        "questions": _questions(plan),
        "stages": _stages(plan),
    }


def to_json(plan: Plan) -> dict[str, Any]:
    """The plan without its raw observations."""
    summed = {name: rows for name, rows in tables(plan).items() if name not in RAW}
    return {
        "study": plan.loaded.study.id,
        "study_sha256": plan.loaded.sha256,
        "seed": plan.seed,
        "participants_per_strategy": plan.participants,
        "shares": dict(plan.shares),
        **summed,
    }


def _thresholds(plan: Plan) -> list[Row]:
    return [
        {
            "dataset": one.dataset,
            "model": one.model or "",
            "target_alignment": one.target,
            "epsilon": one.epsilon,
            "rests_on": one.source,
            "present_target": one.present,
            "chance_floor": one.floor,
            "separated_at": None if one.separated is None else one.separated.target,
            "separated_low": None if one.separated is None else one.separated.low,
            "separated_high": None if one.separated is None else one.separated.high,
            "balanced_accuracy": (
                None if one.separated is None else one.separated.balanced_accuracy
            ),
            "understood": one.share(UNDERSTANDS),
            "stumbled_upon": one.share(TRIES),
            "by_chance": one.by_chance(),
            "understood_at_present": one.share(UNDERSTANDS, one.present),
            "stumbled_upon_at_present": one.share(TRIES, one.present),
            "by_chance_at_present": one.by_chance(one.present),
            "pairs": len(one.pairs),
        }
        for one in plan.thresholds
    ]


def _waiting(plan: Plan) -> list[Row]:
    rows = []
    for one in plan.waiting:
        rows.append(
            {
                "dataset": one.dataset,
                "strategy": MIXTURE,
                "solved": one.solved,
                "median_active_s": one.median_s,
                "skip_after_s": one.skip_after_s,
                "rests_on": one.source,
                "present_skip_after_s": one.present_s,
            }
        )
        rows += [
            {
                "dataset": one.dataset,
                "strategy": strategy,
                "solved": len(seconds),
                "median_active_s": quantile(seconds, [1.0] * len(seconds), 0.5),
            }
            for strategy, seconds in one.active_s.items()
        ]
    return rows


def _needs(plan: Plan) -> list[Row]:
    return [
        {
            "group": powers.group.name,
            "design": design(powers.group.within),
            "metric": test.metric,
            "test": test.test,
            "effect": test.effect.name,
            "effect_size": test.effect.value,
            "level": level,
            "power": goal,
            "n_participants": need.n,
            "low": need.low,
            "high": need.high,
            "more_than": SIZES[-1] if need.n is None else None,
        }
        for powers in plan.powers
        for test in powers.tests
        for (level, goal), need in test.needs.items()
    ]


def design(within: bool) -> str:
    return "paired" if within else "independent"


def _power(plan: Plan) -> list[Row]:
    return [
        {
            "group": powers.group.name,
            "metric": test.metric,
            "test": test.test,
            "level": level,
            "n_participants": n,
            "power": float(test.power[at, place]),
            "power_by_normal_theory": power_of(test.pool, test.effect, n, level),
        }
        for powers in plan.powers
        for test in powers.tests
        for place, level in enumerate(powers.levels)
        for at, n in enumerate(SIZES)
    ]


def _mixtures(plan: Plan) -> list[Row]:
    rows = []
    for one in plan.scenarios:
        shares = {f"share_{name}": share for name, share in one.shares.items()}
        rows += [
            {
                "mixture": one.name,
                **shares,
                "what": "completion rate",
                "of": model,
                "test": "",
                "value": rate,
            }
            for model, rate in one.completion.items()
        ]
        rows += [
            {
                "mixture": one.name,
                **shares,
                "what": f"participants for a power of {GOALS[0]:.0%}",
                "of": metric,
                "test": test,
                "value": n,
            }
            for (metric, test), n in one.needs.items()
        ]
    return rows


def _alignments(plan: Plan) -> list[Row]:
    rows: list[Row] = []
    for pairs in plan.pairs:
        rows += [
            {"what": "pair", "model": pairs.model, "strategy": "", "alignment": float(value)}
            for value in pairs.alignments
        ]
    known = plan.open.questions.dropna(subset=[BEST])
    rows += [
        {"what": "best reached", "model": model, "strategy": strategy, "alignment": float(best)}
        for model, strategy, best in zip(
            known["model"], known["strategy"], known[BEST], strict=True
        )
    ]
    return rows if plan.pairs else []


def _questions(plan: Plan) -> list[Row]:
    columns = ["participant", "strategy", "model", "trial", "outcome", "duration_s", "active_s"]
    measured = ["slide_distance", "error_auc_sum", "alignment_start", BEST, "included"]
    return _plain(plan.people.questions[[*columns, *measured]])


def _stages(plan: Plan) -> list[Row]:
    own = plan.people.tables.stages
    own = own.assign(strategy=own["participant"].map(plan.people.strategies.get))
    columns = ["participant", "strategy", "stage_number", "task", "model", "completion_rate"]
    measured = ["response_time_s", "slide_distance", "error_auc_sum", "correctness_rate"]
    return _plain(own[[*columns, *measured, "duration_s", "included"]])


def _plain(frame: Any) -> list[Row]:
    from labapp.report.listing import records

    return records(frame)
