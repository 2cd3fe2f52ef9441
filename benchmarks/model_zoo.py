"""A zoo of trained models for the rank correlations of paper 002, 5.1, and the scores of each.

    python -m benchmarks.model_zoo --work FOLDER [--data sinelines] [--seeds 1] [--jobs 2]

24 models of Sinelines and 24 of dSprites (drawn by labapp): autoencoders, variational autoencoders
with five weights of the divergence and beta-TCVAEs with two, three seeds each, of 10 codes as in
the models of Locatello et al. (2018) whose scores the paper compares. About 20,000 iterations of
Sinelines and 10,000 of dSprites: 2 and 10 minutes a model on an idle core. Models and checkpoints
lie in FOLDER; a run that was broken off goes on from there, and a model that has its scores is
neither trained nor scored again. The scores go into benchmarks/results/model_zoo.json,
which `reproduce_concepts` reads.

dSprites is trained in bfloat16. A processor that does not have it is thirty times slower so: there,
`--precision float32` takes half an hour a model. A model of either precision counts.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from joblib import Parallel, delayed
from numpy.typing import NDArray

from labapp.base.errors import ModelError
from labapp.models.metrics.evaluation.scores import LEARNT_WITHOUT_CONCEPTS, compute_all
from labapp.models.representations.measuring import load_labelled_encodings
from labapp.models.representations.recipe import Recipe
from labapp.models.training.loop import Progress

FILE = Path(__file__).parent / "results" / "model_zoo.json"
OBJECTIVES: Mapping[str, Mapping[str, Any]] = {
    "ae": {"name": "ae"},
    **{f"vae-{kl}": {"name": "vae", "kl": kl} for kl in (1, 2, 4, 8, 16)},
    **{f"tcvae-{beta}": {"name": "tcvae", "beta": beta} for beta in (4, 10)},
}
SEEDS = 3
CODES = 10
PRECISIONS = ("float32", "bfloat16")
DATA: Mapping[str, Mapping[str, Any]] = {
    "sinelines": {
        "data": {"dataset": "sinelines", "count": 50_000, "held_out": 5_000, "seed": 0},
        "architecture": "sinelines-mlp",
        # 28 epochs of 704 batches.
        "optimizer": {"learning_rate": 1e-3, "schedule": "constant", "batch": 64, "epochs": 28},
    },
    "dsprites": {
        "data": {"dataset": "dsprites", "pictures": "rendered", "held_out": 73_728, "seed": 0},
        "architecture": "dsprites-conv",
        # One epoch of 10,368 batches.
        "optimizer": {
            "learning_rate": 5e-4,
            "schedule": "late-cosine",
            "batch": 64,
            "epochs": 1,
            "precision": "bfloat16",
        },
    },
}
METRICS = (
    "betavae", "factorvae", "mig", "dcimig", "dci", "sap", "modularity", "explicitness",
    "ois", "nis",
)  # fmt: skip
"""R4 is left out: it takes minutes a model, and the paper does not have it."""
MATRICES = {"mutual_information": "mig", "importance": "dci"}
"""Parts that are kept, (C, K), and the metric whose part each is."""
DECIMALS = 6


def recipes(data: str, seeds: int, precision: str | None = None) -> Iterator[tuple[str, Recipe]]:
    """The name of the objective, and the recipe: of all objectives with the first seed, then with
    the next. precision: of `PRECISIONS`, in place of that of `DATA`."""
    more = DATA[data]
    if precision is not None:
        more = {**more, "optimizer": {**more["optimizer"], "precision": precision}}
    for seed in range(seeds):
        for name, objective in OBJECTIVES.items():
            recipe = Recipe.model_validate(
                {
                    "id": f"{data}/zoo-{name}-{seed}",
                    "title": f"{data}, {name}, seed {seed}",
                    "dimensions": CODES,
                    "objective": objective,
                    "seed": seed,
                    "checkpoint_iterations": 2_000,
                    **more,
                }
            )
            yield name, recipe


def counts(entry: Mapping[str, Any] | None, recipe: Recipe) -> bool:
    """Whether an entry of `kept` is of the recipe, in whichever precision it was trained."""
    if entry is None:
        return False
    optimizers = (
        recipe.optimizer.model_copy(update={"precision": precision}) for precision in PRECISIONS
    )
    digests = {recipe.model_copy(update={"optimizer": each}).digest for each in optimizers}
    return entry["recipe_sha256"] in digests


def kept() -> dict[str, dict[str, Any]]:
    """The scored models by id: "recipe_sha256", "precision", "objective", "seed", "error" (mean
    squared error of held-out rows), "rows", "factors" (names), "scores" by metric, and the matrices
    of `MATRICES`."""
    if not FILE.exists():
        return {}
    models: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return models


def keep(model: str, entry: dict[str, Any]) -> None:
    every = {**kept(), model: entry}
    new = FILE.with_suffix(".new")
    lines = [f" {json.dumps(name)}: {json.dumps(every[name])}" for name in sorted(every)]
    new.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    new.replace(FILE)


def trained(recipe: Recipe, work: Path) -> Path:
    """The folder of the recipe's model in `work`, trained now if it is not there.

    Raises ModelError: the model there is of another recipe.
    """
    from labapp.models.representations import card as cards
    from labapp.models.representations import training

    folder = work / recipe.id
    if folder.exists():
        record = cards.read(folder).training
        if record is None or record.recipe_sha256 != recipe.digest:
            raise ModelError(
                f"The model in {folder} was trained by another recipe of that id.",
                safe="It was left as it is, and nothing was scored.",
                todo="Move it away, or give another folder.",
            )
        return folder
    path = work / f"{recipe.id.replace('/', '-')}.yaml"
    path.write_text(yaml.safe_dump(recipe.model_dump(mode="json")), encoding="utf-8")

    def report(progress: Progress) -> None:
        if progress.step % recipe.checkpoint_iterations == 0:
            print(f"{recipe.id}: {progress.phase}, {progress.elapsed_s:.0f} s", flush=True)

    return training.train(path, out=work, device="cpu", progress=report)


def scored(recipe: Recipe, work: Path) -> dict[str, Any]:
    """The entry of a trained model, see `kept`. A score is null where a metric refuses it."""
    from labapp.models.representations import card as cards

    rows = load_labelled_encodings(work / recipe.id)
    assert rows is not None
    outcomes = compute_all(
        rows.codes, rows.factors, cut=True, settings=LEARNT_WITHOUT_CONCEPTS, names=METRICS
    )
    scores = {outcome.metric.name: outcome.score for outcome in outcomes}
    error = cards.read(work / recipe.id).held_out_error
    entry: dict[str, Any] = {
        "recipe_sha256": recipe.digest,
        "precision": recipe.optimizer.precision,
        "objective": recipe.objective.model_dump(mode="json"),
        "seed": recipe.seed,
        "error": error and error.mean,
        "rows": len(rows.codes),
        "factors": list(rows.factor_names),
        "scores": {
            name: None if score is None else round(score.score, DECIMALS)
            for name, score in scores.items()
        },
    }
    for part, name in MATRICES.items():
        score = scores[name]
        if score is not None:
            entry[part] = np.round(matrix(score.parts[part]), DECIMALS).tolist()
    return entry


def made(recipe: Recipe, work: Path) -> tuple[str, dict[str, Any]]:
    """The recipe's id, and the entry of its model, which is trained where it is not yet."""
    trained(recipe, work)
    began = time.perf_counter()
    entry = scored(recipe, work)
    print(f"{recipe.id}: scored in {time.perf_counter() - began:.0f} s", flush=True)
    return recipe.id, entry


def matrix(part: float | NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(part, dtype=np.float64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--work", type=Path, required=True, help="the folder of the models")
    parser.add_argument("--data", action="append", choices=DATA, help="both by default")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of each objective")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--precision", choices=PRECISIONS, help="that of the data set by default")
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    every = (
        recipe
        for data in asked.data or DATA
        for _, recipe in recipes(data, asked.seeds, asked.precision)
    )
    missing = (recipe for recipe in every if not counts(kept().get(recipe.id), recipe))
    # Entries are kept here, by one process.
    parallel = Parallel(
        n_jobs=asked.jobs, batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered"
    )
    for recipe_id, entry in parallel(delayed(made)(recipe, asked.work) for recipe in missing):
        keep(recipe_id, entry)


if __name__ == "__main__":
    main()
