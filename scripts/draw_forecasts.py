"""The stimulus sets and the drawn changes of the study concept-forecast, from the models' answers.

    .venv/bin/python -m scripts.draw_forecasts [--models FOLDER] [--out FOLDER]

Everything follows from `SEED`, the models and the test pictures, so that it is drawn before anybody
takes part: who meets which models (`design`), and which pictures with which change in which of two
phases (`Lists`). It writes a stimulus set for each model (`assets/stimuli/shapes-forecast-…`), a
file for each participant's place (`assets/changes/concept-forecast/LIST.csv`), and the cells of the
study file.

A picture is one of the leaks (C: the card says that the answer stays, and it moves), or common to
all models. Each participant sees every common picture once, with a model that goes round: a quarter
of them is met with each model. Of a quarter one part in four has a change that the card foretells
(A), one a change after which the answer stays, as the card says (B), and two are the exposure, with
any of the twelve changes. The pictures of leaks are those that leak in the most models. The changes
of B have the concepts of those of C, and confirm or correct as they do, as far as the pictures
allow: nobody can tell the two apart by what is set.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from labapp import __version__
from labapp.base.resources import assets
from labapp.models.concepts import package, recipe
from labapp.models.concepts.commands import ANSWERS, DIGITS, classes_of, manifest_concept, record_of
from labapp.models.concepts.learner import ConceptModel
from labapp.models.concepts.recipe import ConceptData
from labapp.models.concepts.training import interventions as ready_rows
from labapp.models.datasets.concepts.rows import ChangedRows, ConceptRows
from labapp.models.datasets.concepts.shapes import (
    SIZES,
    RenderedShapes,
    concepts,
    grid_indices,
    label_as_released,
)
from labapp.models.metrics.ois import ois
from labapp.models.stimuli import importing, interventions, pictures, score_files
from labapp.models.stimuli.check import inner_faults
from labapp.models.stimuli.interventions import ChangeType
from labapp.models.stimuli.manifest import Manifest, Method, Photo

Int64 = NDArray[np.int64]
SEED = 20260211
STUDY = "concept-forecast"
FAMILY = "shapes-forecast"
PREDICTORS = ("linear", "8", "8-8", "16-8", "32-16", "32-32", "64-64", "128-128")
INSIDE = 0.8972, 0.9072
"""Accuracies of classes between which a model is one of the study's, as its recipe says."""
PEOPLE, EACH = 72, 4
"""Participants, and models that each of them meets."""
TYPE = 12
"""Changes of each type in a test; there are twice as many in an exposure."""
LEAKING = 48
"""Pictures of leaks that each model has at least."""
COMMON = EACH * 4 * TYPE
METRIC_SEEDS = 10
PRACTISED = 8
"""Pictures to practise with, which come nowhere else."""
BASE, TURNED = (6, 8, 1, 6, 2, 12), (3, 2, 9, 1, 0, 2)
"""Numbers of the factors' values of the pictures that show what the words mean: one picture, and
six that each differ from it in one concept. All are values that people can tell, and floor, walls
and object have hues that can be told from each other."""
FOLLOWS: ChangeType = "follows"
STAYS: ChangeType = "stays"
LEAKS: ChangeType = "leaks"


@dataclass(frozen=True, eq=False)
class ForecastModel:
    """A model and what it answers. answers: shape (pictures, 1 + 2 k, classes), the test pictures
    first and the examples behind them; types: by test picture and change, the place in
    `CHANGE_TYPES`, -1 for none; scores: of OIS in common coordinates, one a metric seed."""

    name: str
    model: ConceptModel
    answers: NDArray[np.float16]
    beliefs: NDArray[np.float64]
    types: Int64
    scores: NDArray[np.float64]

    def of_type(self, kind: ChangeType) -> NDArray[np.bool_]:
        place = interventions.CHANGE_TYPES.index(kind)
        return np.asarray(np.equal(self.types, place), np.bool_)


def study_models(root: Path | None) -> list[tuple[str, Path]]:
    """The models of the study, by the rule of the recipe: of each predictor the first three seeds
    whose accuracy lies inside; where one has not three, only the shipped ones of seeds 0 and 1."""
    chosen: list[tuple[str, Path]] = []
    complete = True
    for predictor in PREDICTORS:
        own = []
        for seed in range(10):
            graded = f"concepts/shapes-graded-logits-{predictor}" + ("" if seed == 0 else "-b")
            further = f"concepts/{FAMILY}-{predictor}-seed-{seed}"
            name = graded if graded in package.list_packages() and seed < 2 else further
            if name not in package.list_packages(root) and name not in package.list_packages():
                continue
            folder = package.find(name, root)
            if INSIDE[0] <= (accuracy_of(folder) or 0) <= INSIDE[1]:
                own.append((f"{FAMILY}-{predictor}-seed-{seed}", folder))
        complete = complete and len(own) >= 3
        chosen += own[:3]
    return chosen if complete else [(name, folder) for name, folder in chosen if name[-1] in "01"]


def accuracy_of(folder: Path) -> float | None:
    from labapp.models.concepts import card

    return card.read(folder).test.task


def design(models: int, random: np.random.Generator) -> Int64:
    """Who meets which models in which order, shape (people, each): blocks of a cyclic square, so
    that each model stands equally often at each place; of many such that one in which pairs of
    models are met most evenly, and by as many in either order."""
    blocks = PEOPLE // models
    best: Int64 = np.empty((0, EACH), np.int64)
    least = np.inf
    for _ in range(4000):
        tried = np.stack([random.permutation(models)[:EACH] for _ in range(blocks)])
        pairs = Counter(
            int(own[j] - own[i]) % models for own in tried for i, j in permutations(range(EACH), 2)
        )
        follows = Counter(
            int(own[j + 1] - own[j]) % models for own in tried for j in range(EACH - 1)
        )
        uneven = sum(
            (counts[step] - sum(counts.values()) / (models - 1)) ** 2
            for counts in (pairs, follows)
            for step in range(1, models)
        )
        if uneven < least:
            best, least = tried, uneven
    rows = best[:, None, :] + np.arange(models)[None, :, None]
    return np.asarray(rows.reshape(PEOPLE, EACH) % models, np.int64)


class Lists:
    """The changes of each participant, drawn from the models' answers."""

    def __init__(self, models: Sequence[ForecastModel], random: np.random.Generator) -> None:
        self.models, self.random = models, random
        self.rows = design(len(models), random)
        self.leaking = self._leaking()
        self.common = self._common()
        self.used: Counter[tuple[int, int, int]] = Counter()
        self.unmatched = 0
        self._shown = np.zeros((len(models), len(self.leaking)))

    def _leaking(self) -> Int64:
        """Pictures that leak in the most models, until each model has enough."""
        leaks = np.stack([model.of_type(LEAKS).any(axis=1) for model in self.models])
        lot = self.random.random(leaks.shape[1])
        chosen: list[int] = []
        while (lacking := leaks[:, chosen].sum(axis=1) < LEAKING).any():
            gain = leaks[lacking].sum(axis=0) + lot / 2
            gain[chosen] = -1
            chosen.append(int(gain.argmax()))
        return np.array(sorted(chosen))

    def _common(self) -> Int64:
        """Pictures whose first answer is the card's in all models, with a change of A and of B."""
        fits = np.ones(len(self.models[0].types), np.bool_)
        for model in self.models:
            for kind in (FOLLOWS, STAYS):
                fits &= model.of_type(kind).any(axis=1)
        fits[self.leaking] = False
        return np.asarray(self.random.permutation(np.flatnonzero(fits))[:COMMON], np.int64)

    def drawn(self) -> dict[tuple[str, str, str], list[tuple[int, int]]]:
        """By list, set and phase the pictures, each with its change (2 x concept, 1 more: on)."""
        parts = self.common.reshape(EACH, 4, TYPE)
        out = {}
        for row, met in enumerate(self.rows.tolist()):
            block, number = divmod(row, len(self.models))
            leaking = self._leaks_of(met)
            for stage, at in enumerate(met):
                model = self.models[at]
                quarter = np.roll(parts[(stage + block) % EACH], number, axis=0)
                leaks = [(int(p), self._any(at, int(p), LEAKS)) for p in leaking[stage]]
                follows = [(int(p), self._any(at, int(p), FOLLOWS)) for p in quarter[0]]
                stays = self._alike(at, quarter[1], leaks)
                exposed = [
                    (int(p), int(self.random.integers(model.types.shape[1])))
                    for p in quarter[2:].ravel()
                ]
                key = f"{row + 1:02d}", model.name
                out[*key, "exposure"] = exposed
                out[*key, "test"] = [*follows, *stays, *leaks]
        return out

    def _any(self, at: int, picture: int, kind: ChangeType) -> int:
        """A change of a type, of those that were used least with this model."""
        fitting = np.flatnonzero(self.models[at].of_type(kind)[picture, :]).tolist()
        lot = self.random.random(len(fitting))
        change = min(
            zip(fitting, lot, strict=True),
            key=lambda each: (self.used[at, picture, each[0]], each[1]),
        )[0]
        self.used[at, picture, change] += 1
        return int(change)

    def _leaks_of(self, met: Sequence[int]) -> Int64:
        """Pictures of leaks for each model of a participant, each once: those used least."""
        cost = []
        for at in met:
            leaks: NDArray[np.bool_] = np.any(self.models[at].of_type(LEAKS), axis=1)
            there = leaks[self.leaking]
            uses = 4.0 ** self._shown[at] + self._shown.sum(axis=0) / 8
            lot = self.random.random(len(self.leaking)) / 16
            cost += [np.where(there, uses + lot, 1e9)] * TYPE
        slots, columns = linear_sum_assignment(np.array(cost))
        if np.array(cost)[slots, columns].max() >= 1e9:
            raise SystemExit("the pictures of leaks are too few for a participant; raise LEAKING")
        chosen = columns.reshape(len(met), TYPE)
        for at, own in zip(met, chosen, strict=True):
            self._shown[at, own] += 1
        return np.asarray(self.leaking[chosen], np.int64)

    def _alike(
        self, at: int, those: Int64, leaks: Sequence[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """Changes of B: of the concepts of those of C, confirmed or corrected as they are."""
        model = self.models[at]
        stays = model.of_type(STAYS)
        on = np.asarray(model.beliefs >= 0.5, np.bool_)  # as `is_predicted_on`

        def corrects(picture: int, change: int) -> bool:
            return bool(on[picture, change // 2] != change % 2)

        wanted = [(change // 2, corrects(picture, change)) for picture, change in leaks]
        cost = np.empty((TYPE, TYPE))
        best: dict[tuple[int, int], int] = {}
        for i, picture in enumerate(those.tolist()):
            for j, (concept, corrected) in enumerate(wanted):
                every = [
                    (
                        2 * (corrects(picture, c) != corrected) + (c // 2 != concept),
                        self.random.random(),
                        c,
                    )
                    for c in np.flatnonzero(stays[picture, :]).tolist()
                ]
                far, _, best[i, j] = min(every)
                cost[i, j] = far
        rows, columns = linear_sum_assignment(cost)
        self.unmatched += int((cost[rows, columns] > 0).sum())
        return [(int(those[i]), best[int(i), int(j)]) for i, j in zip(rows, columns, strict=True)]


def example_rows(data: ConceptData) -> ConceptRows:
    """The pictures that show what the words mean: as coarse as the models saw theirs, but without
    noise."""
    indices = np.array([BASE, *(
        tuple(TURNED[at] if at == turned else value for at, value in enumerate(BASE))
        for turned in range(len(BASE))
    )])  # fmt: skip
    grid = np.ravel_multi_index(tuple(indices.T), SIZES)
    shape = (int(data.shape[0]), int(data.shape[1]), int(data.shape[2]))
    change = recipe.preparing(shape, 0.0, (0, recipe.NOISE, 2))
    annotated = concepts(grid_indices(grid))
    return ConceptRows(
        ChangedRows(RenderedShapes(grid), change), annotated, label_as_released(annotated)
    )


def read_model(name: str, folder: Path, data: ConceptData, examples: ConceptRows) -> ForecastModel:
    model = package.load(folder)
    tables = [ready_rows(model, rows) for rows in (data.split.test, examples)]
    answers = np.concatenate([ready.answers(single=True) for ready in tables])
    beliefs = np.concatenate([model.beliefs(rows) for rows in (data.split.test, examples)])
    beliefs = np.asarray(beliefs.round(DIGITS), np.float64)
    ready = tables[0]
    scores = [
        ois(ready.codes, ready.concepts.astype(float), coordinates="standardised", seed=seed).score
        for seed in range(METRIC_SEEDS)
    ]
    rules = [{at: value == 1 for at, value in rule.items()} for rule in data.split.rules]
    changes = interventions.single_states(ready.count)[1:]
    types = np.array([
        [
            -1 if kind is None else interventions.CHANGE_TYPES.index(kind)
            for change in changes
            for kind in (interventions.change_type(table, rules, own, change),)
        ]
        for table, own in zip(answers[: len(ready.labels)], beliefs.tolist(), strict=False)
    ])  # fmt: skip
    return ForecastModel(name, model, answers, beliefs, types, np.array(scores))


def scores_of(model: ForecastModel) -> dict[str, float]:
    """What the manifest says of a model besides: its purity, mean and SD over metric seeds, how
    often an answer moves and leaks, and how many pictures there are of each type."""
    known = model.types[(model.types >= 0).any(axis=1)]
    shares = {kind: float((known == n).mean()) for n, kind in enumerate(interventions.CHANGE_TYPES)}
    return {
        "ois_common_mean": round(float(model.scores.mean()), 5),
        "ois_common_sd": round(float(model.scores.std(ddof=1)), 5),
        "ois_common_seeds": float(METRIC_SEEDS),
        "leak_rate": round(shares[LEAKS] / (shares[LEAKS] + shares[STAYS]), DIGITS),
        **{f"rate_{kind}": round(share, DIGITS) for kind, share in shares.items()},
        **{
            f"pictures_{k}": float(model.of_type(k).any(axis=1).sum())
            for k in (FOLLOWS, STAYS, LEAKS)
        },
    }


def build_set(
    model: ForecastModel,
    data: ConceptData,
    examples: ConceptRows,
    shown: Int64,
    practised: Int64,
    keeper: str,
) -> tuple[Manifest, dict[str, bytes]]:
    """The set of a model: number 1 has what shows the words and what is practised with, number 2
    the pictures of the study. keeper: the set that has the files of all pictures."""
    test, split, card = data.split.test, data.split, model.model.card
    every = len(test)
    rows = [*range(every, every + len(examples)), *practised.tolist(), *sorted(shown.tolist())]
    classes = classes_of(split)
    files, photos = {ANSWERS: score_files.encode_answers(model.answers[rows])}, []
    for place, row in enumerate(rows):
        of, at = (examples, row - every) if row >= every else (test, row)
        pixels = of.rows.instances(np.array([at]))[0]
        name = f"pictures/{f'example-{at}' if row >= every else f'{row:05d}'}.png"
        levels = np.rint(pixels * 255).astype(np.uint8).transpose(1, 2, 0)
        files[name] = pictures.png(levels)
        photos.append(
            Photo(
                id=f"e{at}" if row >= every else f"p{row:05d}",
                set=1 if place < len(examples) + len(practised) else 2,
                photo=name if model.name == keeper else f"set:{keeper}/{name}",
                truth=classes[int(of.labels_of[at])].id,
                prediction=classes[int(model.answers[row, 0].argmax())].id,
                beliefs=tuple(model.beliefs[row].tolist()),
                concepts=tuple((of.concepts_of[at] == 1).tolist()),
            )
        )
    record = record_of(card, ready_rows(model.model, test))
    manifest = Manifest(
        id=model.name,
        title=f"{card.title}, changes to forecast",
        source="3dshapes(0), released reading: pictures drawn by labapp, shown as the model saw "
        "them: 32 pixels wide, 60 % of them noise",
        chosen_from=f"{every} test pictures, by what changes do to the models' answers",
        kind="interventions",
        method=Method(
            name=record.learner,
            accuracy=record.task_accuracy,
            classifier=record.model,
            sha256=record.sha256,
        ),
        classes_are="objects",
        invented=True,
        classes=classes,
        photos=tuple(photos),
        concepts=tuple(map(manifest_concept, split.words)),
        concept_model=record.model_copy(update={"scores": {**record.scores, **scores_of(model)}}),
        answers=ANSWERS,
        seed=SEED,
        made_with=f"labapp {__version__}, scripts/draw_forecasts.py",
    )
    if faults := inner_faults(manifest):
        raise SystemExit("; ".join(faults))
    return manifest, files


def reliability(models: Sequence[ForecastModel]) -> float:
    """Of the mean over metric seeds: variance between models over it and the variance of seeds."""
    means = np.array([model.scores.mean() for model in models])
    within = np.mean([model.scores.var(ddof=1) for model in models]) / METRIC_SEEDS
    between = max(0.0, means.var(ddof=1) - within)
    return float(between / (between + within))


def cells_of(lists: Lists) -> str:
    """The cells of the study: a place a participant, with its models and its list."""
    lines = []
    for row, met in enumerate(lists.rows.tolist()):
        names = (lists.models[at].name for at in met)
        models = zip(("first", "second", "third", "fourth"), names, strict=True)
        told = ", ".join(f"{which}: {name}" for which, name in models)
        lines.append(f'      list-{row + 1:02d}: {{list: "{row + 1:02d}", {told}}}\n')
    return "".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=Path, help="folder of models besides the shipped ones")
    parser.add_argument("--out", type=Path, default=assets(), help="folder of assets")
    asked = parser.parse_args()
    chosen = study_models(asked.models)
    first = package.load(chosen[0][1])
    data = package.task_of(first.card)
    examples = example_rows(data)
    models = []
    for name, folder in chosen:
        models.append(read_model(name, folder, data, examples))
        print(name, json.dumps(scores_of(models[-1])), flush=True)
    print(f"reliability of OIS in common coordinates: {reliability(models):.3f}")
    lists = Lists(models, np.random.default_rng(SEED))
    drawn = lists.drawn()
    taken = {*lists.leaking.tolist(), *lists.common.tolist()}
    left = np.array([row for row in range(len(data.split.test)) if row not in taken])
    practised = np.random.default_rng([SEED, 1]).permutation(left)[:PRACTISED]
    names = [words.id for words in data.split.words]
    changes = asked.out / "changes" / STUDY
    changes.mkdir(parents=True)
    for name in dict.fromkeys(name for name, _, _ in drawn):
        out = io.StringIO()
        table = csv.writer(out, lineterminator="\n")
        table.writerow(("stimuli", "phase", "changes"))
        for (list_, *key), own in drawn.items():
            told = (f"p{p:05d}:{names[c // 2]}:{'on' if c % 2 else 'off'}" for p, c in own)
            if list_ == name:
                table.writerow((*key, " ".join(told)))
        (changes / f"{name}.csv").write_text(out.getvalue(), encoding="utf-8")
    for model in models:
        own_lists = (own for (_, name, _), own in drawn.items() if name == model.name)
        shown = (
            taken if model is models[0] else {picture for own in own_lists for picture, _ in own}
        )
        rows = np.array(sorted(shown))
        manifest, files = build_set(model, data, examples, rows, practised, models[0].name)
        if model is not models[0]:
            files = {ANSWERS: files[ANSWERS]}
        folder = asked.out / "stimuli" / model.name
        importing.write(folder, manifest, files)
    study = asked.out / "studies" / f"{STUDY}.yaml"
    if study.exists():
        head, _, rest = study.read_text(encoding="utf-8").partition("    cells:\n")
        behind = rest[rest.index("related:") :]
        study.write_text(f"{head}    cells:\n{cells_of(lists)}{behind}", encoding="utf-8")
    else:
        print(cells_of(lists))
    print(
        f"{len(models)} models; pictures of leaks: {len(lists.leaking)}, common: "
        f"{len(lists.common)}; changes of B that match none of C: {lists.unmatched}"
    )


if __name__ == "__main__":
    main()
