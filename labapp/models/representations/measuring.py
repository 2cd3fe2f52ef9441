"""Measures the quality of a model on its held-out split, for its card.

For an InfoGAN this is whether each value of its discrete code draws one digit: a support-vector
classifier, trained on the same digits as the model, labels pictures of random codes, and the values
of the code are matched one to one with the digits so that most labels agree.

Computes the numbers of a model's card again, for `labapp models evaluate`, and gives its encodings
beside the true factors to the metrics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import DatasetError, ModelError
from labapp.models.datasets import mnist
from labapp.models.datasets.split import Float32, Float64, Int64, Rows, Split, chunks, divide
from labapp.models.representations import package
from labapp.models.representations.card import (
    CodeAgreement,
    Dci,
    Disentanglement,
    HeldOutError,
    HeldOutNll,
    ModelCard,
)
from labapp.models.representations.decoders import LoadedDecoder
from labapp.models.representations.effects import HIGH, LITTLE, LOW, effects
from labapp.models.representations.recipe import (
    ClosedForm,
    InfoGan,
    Likelihood,
    PublishedScores,
    TrainedNetwork,
)
from labapp.models.representations.space import Discrete, LatentSpace

INSTANCES = 10_000
"""Most held-out rows on which disentanglement is measured."""
ROWS_SEED = 0
"""Seed of the draw of these rows. They are drawn because held-out rows are in the order of their
data set: the first 10,000 of dSprites are all squares."""

NOISE_SEED = 0
"""Seed of the draws from the posteriors for a sampled error; fixed, so that cards can be
checked."""
VARIANCE = 0.5
"""Variance of the Gaussian likelihood. With 1/2, the negative logarithm is the sum of squares and a
constant, which the Sinelines models minimise (see `objectives`)."""
CLIP = 1e-7
"""Probabilities of a decoder, float32, are kept this far from 0 and 1 in the likelihood."""
PICTURES = 2_000
"""Pictures of random codes that the classifier labels."""
MOST_TRAINED = 10_000
"""Most digits that the classifier is trained on, the first ones."""

# An RBF kernel with these has 97 % on digits it has not seen; a finer search changes little.
_C, _GAMMA = 5.0, 0.02


@dataclass(frozen=True, slots=True)
class QualityMeasures:
    """The measured fields of a card; those that do not apply are None."""

    held_out_error: HeldOutError | None = None
    held_out_nll: HeldOutNll | None = None
    disentanglement: Disentanglement | None = None
    code_agreement: CodeAgreement | None = None

    def fields(self) -> dict[str, Any]:
        """The fields by name, as `ModelCard.model_copy` takes them."""
        return {name: getattr(self, name) for name in self.__slots__}


def measure(
    card: ModelCard,
    decode: Callable[[Float32], Float32],
    latents: Float32,
    spread: Float32 | None,
    data: Split,
    *,
    published: PublishedScores,
) -> QualityMeasures:
    """Errors, and disentanglement or the agreement of codes with digits if they apply.

    Parameters
    ----------
    decode : float32 inputs (n, width) -> float32 instances.
    latents, spread : dial states of the held-out rows, row for row (see `encodings`); draws of the
        prior for an InfoGAN.
    """
    if isinstance(card.objective, InfoGan):
        return QualityMeasures(code_agreement=code_agreement(card.space, decode, latents, data))

    def errors(z: Float32) -> tuple[float, float]:
        squares, nats = held_out_errors(decode, card.space, z, data.held, likelihood_of(card))
        return round(squares, 6), round(nats, 6)

    mean = errors(latents)
    sampled = (None, None) if spread is None else errors(draw(latents, spread))
    return QualityMeasures(
        held_out_error=HeldOutError(mean=mean[0], sampled=sampled[0], published=published.error),
        held_out_nll=HeldOutNll(mean=mean[1], sampled=sampled[1]),
        disentanglement=_disentanglement(latents, data, published) if data.generative else None,
    )


def likelihood_of(card: ModelCard) -> Likelihood:
    """The likelihood by which a model's errors are measured; Gaussian for closed forms, as for the
    trained models of the same series."""
    source = card.made_by.source
    return source.likelihood if isinstance(source, TrainedNetwork) else "gaussian"


def _disentanglement(codes: Float32, data: Split, published: PublishedScores) -> Disentanglement:
    from labapp.models.metrics import information

    rows = choose_rows(data.held)
    factors = data.held.factors(rows)
    result = codes[rows].astype(np.float64)
    return Disentanglement(
        instances=len(rows),
        mig=round(information.mig(result, factors).score, 6),
        mig_published=published.mig,
        dci=_dci(result, factors, exchanged=False),
        dci_exchanged=_dci(result, factors, exchanged=True),
        dci_published=published.dci,
    )


def choose_rows(held: Rows) -> Int64:
    """Numbers of `INSTANCES` rows, drawn by `ROWS_SEED`, or of all if there are no more."""
    if len(held) <= INSTANCES:
        return np.arange(len(held))
    return divide(len(held), INSTANCES, ROWS_SEED)[1]


def _dci(codes: NDArray[np.float64], factors: NDArray[np.float64], *, exchanged: bool) -> Dci:
    from labapp.models.metrics import dci

    score = dci.dci(codes, factors, as_published=exchanged)
    return Dci(
        disentanglement=round(score.score, 6),
        completeness=round(float(score.parts["completeness"]), 6),
        informativeness=round(float(score.parts["informativeness_test"]), 6),
    )


def held_out_errors(
    decode: Callable[[Float32], Float32],
    space: LatentSpace,
    z: Float32,
    rows: Rows,
    likelihood: Likelihood,
) -> tuple[float, float]:
    """Means over the held-out rows of sum (x - decode(z))^2 (Table 2 of paper 000) and -ln p(x|z).
    Returns squared error, and negative log-likelihood in nats. `z`: dial states, float32, shape
    (len(rows), dimensions)."""
    squares = nats = 0.0
    for part in chunks(len(rows)):
        x = rows.instances(part).astype(np.float64)
        decoded = decode(space.encode_rows(z[part])).astype(np.float64)
        squares += float(np.square(x - decoded).sum())
        nats += float(_nats(likelihood, x, decoded).sum())
    return squares / len(rows), nats / len(rows)


def _nats(likelihood: Likelihood, x: Float64, decoded: Float64) -> Float64:
    if likelihood == "gaussian":
        constant = 0.5 * math.log(2.0 * math.pi * VARIANCE)
        return np.square(x - decoded) / (2.0 * VARIANCE) + constant
    p = np.clip(decoded, CLIP, 1.0 - CLIP)
    return -(x * np.log(p) + (1.0 - x) * np.log1p(-p))


def draw(mean: Float32, spread: Float32) -> Float32:
    """One draw from each posterior N(mean, spread^2), float32, the same at each call.

    A spread of 0 leaves its value alone: labels are not drawn.
    """
    noise = np.random.default_rng(NOISE_SEED).standard_normal(mean.shape)
    return (mean + spread * noise).astype(np.float32)


def code_agreement(
    space: LatentSpace, decode: Callable[[Float32], Float32], latents: Float32, data: Split
) -> CodeAgreement:
    """The agreement of the first, discrete dimension of `latents` with the digits it draws.
    latents: draws of the prior, float32, shape (n, dimensions); data: MNIST, whose one factor is
    the digit."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.svm import SVC

    count = min(MOST_TRAINED, len(data.train))
    classifier = SVC(C=_C, gamma=_GAMMA)
    classifier.fit(*_read_labelled(data.train, count))
    held, names = _read_labelled(data.held, len(data.held))
    accuracy = float(np.mean(classifier.predict(held) == names))

    z = latents[:PICTURES]
    named = classifier.predict(_flat(decode(space.encode_rows(z))))
    codes = z[:, 0].astype(np.int64)
    code = space.dimensions[0]
    assert isinstance(code, Discrete)
    table = np.zeros((code.k, mnist.CLASSES), np.int64)
    np.add.at(table, (codes, named), 1)
    values, digits = linear_sum_assignment(table, maximize=True)
    return CodeAgreement(
        pictures=len(z),
        agreement=round(float(table[values, digits].sum()) / len(z), 4),
        digits=[int(digit) for digit in digits],
        classifier=f"support-vector machine, RBF kernel, C {_C:g}, gamma {_GAMMA:g}, "
        f"trained on {count:,} digits",
        classifier_accuracy=round(accuracy, 4),
    )


def _read_labelled(rows: Rows, count: int) -> tuple[Float32, NDArray[np.int64]]:
    chosen = np.arange(count)
    return _flat(rows.instances(chosen)), rows.factors(chosen)[:, 0].astype(np.int64)


def _flat(pictures: Float32) -> Float32:
    return pictures.reshape(len(pictures), -1)


TOLERANCE = 0.001
"""Relative difference from the card that rounding on another device or build explains."""
TREES_TOLERANCE = 0.02
"""Absolute difference of DCI that another release of scikit-learn explains."""
AGREEMENT_TOLERANCE = 0.01
"""Absolute difference of the codes' agreement that rounding explains: 20 of 2,000 pictures."""


def evaluate(
    model: str | Path,
    device: str | None = None,
    root: Path | None = None,
    data_folder: Path | None = None,
) -> dict[str, Any]:
    """The card's numbers computed again from the recipe's data, beside the card's. Raises
    ModelError: the package is refused, or states no data to evaluate on; DatasetError: the files of
    its data are not in `data_folder`, or others than it learned from.

    Returns
    -------
    model, device, instances (held-out rows) and unit of the error; "computed" and "card", each
    with mean and sampled error (None if there is no posterior) and, if they apply, nll,
    disentanglement and code_agreement as cards give them; published; "effects" of the dials
    (see `effects.DialEffect`; on no card); "agrees": whether computed and card differ by no more
    than rounding (`TOLERANCE`, `TREES_TOLERANCE`, `AGREEMENT_TOLERANCE`).
    """
    decoder = package.load_package(model, device, root=root)
    card = decoder.card
    data = load_held_out(card, data_folder)
    latents, spread = encodings(decoder, data), None
    if not isinstance(card.made_by.source, ClosedForm):
        spread = package.read_arrays(package.find(model, root), card).get("spread")
    stated = QualityMeasures(
        card.held_out_error, card.held_out_nll, card.disentanglement, card.code_agreement
    )
    computed = measure(
        card, decoder.decode, latents, spread, data, published=_read_published(stated)
    )
    return {
        "model": card.id,
        "device": decoder.device,
        "instances": len(data.held),
        "unit": "sum of squares per instance",
        "computed": _plain(computed),
        "card": _plain(stated),
        "published": card.held_out_error and card.held_out_error.published,
        "effects": [effect.to_json() for effect in effects(decoder)],
        "agrees": _agree(computed, stated),
    }


def load_held_out(card: ModelCard, folder: Path | None) -> Split:
    """The data that a model is measured on. Raises ModelError and DatasetError, see `evaluate`."""
    if card.data is None or (card.held_out_error is None and card.code_agreement is None):
        raise ModelError(
            f"{card.id} has no held-out data, so there is nothing to evaluate.",
            safe="Nothing is wrong with the model.",
            todo="Choose a model that has a data set.",
        )
    data = card.data.load(folder)
    _same_files(card, data.files)
    return data


def _same_files(card: ModelCard, files: Mapping[str, str]) -> None:
    """Refuse other files than those that the model learned from, if its card says which."""
    stated = card.data_sha256 or {}
    if others := [name for name, sha256 in stated.items() if files.get(name) != sha256]:
        raise DatasetError(
            f"{', '.join(others)}: not the file on which {card.id} was trained.",
            todo="Get a fresh copy of the data; the hashes are on the model's card.",
        )


def encodings(decoder: LoadedDecoder, data: Split) -> Float32:
    """The model's encodings of the held-out rows, row for row; of a closed form, the factors.
    Raises ModelError: its package holds another number of them."""
    if isinstance(decoder.card.made_by.source, ClosedForm):
        return data.held.factors(np.arange(len(data.held))).astype(np.float32)
    held = len(data.held)
    if not isinstance(decoder.card.objective, InfoGan) and len(decoder.latents) != held:
        raise ModelError(
            f"{decoder.id} has {len(decoder.latents)} encodings for {held} held-out instances, "
            "so its latents and its card do not match.",
            todo="Get a fresh copy of the package.",
        )
    return decoder.latents


@dataclass(frozen=True, slots=True, eq=False)
class LabelledEncodings:
    """Held-out rows of a model: `codes`, float64 (n, C), and `factors`, float64 (n, K)."""

    codes: Float64
    factors: Float64
    code_names: tuple[str, ...]
    factor_names: tuple[str, ...]


def load_labelled_encodings(
    model: str | Path, root: Path | None = None, data_folder: Path | None = None
) -> LabelledEncodings | None:
    """Codes and factors of the rows on which the card's disentanglement was measured; None if the
    data have no true factors, or the model no encodings. Raises ModelError, DatasetError: see
    `evaluate`."""
    decoder = package.load_package(model, "cpu", root=root)
    card = decoder.card
    data = load_held_out(card, data_folder)
    if not data.generative or isinstance(card.objective, InfoGan):
        return None
    rows = choose_rows(data.held)
    return LabelledEncodings(
        codes=encodings(decoder, data)[rows].astype(np.float64),
        factors=data.held.factors(rows),
        code_names=tuple(dial.name for dial in card.dimensions),
        factor_names=data.factor_names,
    )


def table(result: dict[str, Any]) -> list[str]:
    """The result as lines to read: one number per line, as computed, on the card and published."""
    computed, stated = _flatten_numbers(result["computed"]), _flatten_numbers(result["card"])
    published = {"error": result["published"]}
    for row in (computed, stated):
        published |= {
            "mig": row.pop("mig_published", None),
            "dci_exchanged": row.pop("dci_published", None),
        }
    has_posterior = computed.get("error, z sampled") is not None
    published["error, z sampled" if has_posterior else "error"] = published.pop("error")
    width = max(len(name) for name in computed)
    lines = [f"{'':{width}}  {'computed':>10}  {'card':>10}  {'published':>10}"]
    for name, value in computed.items():
        if value is None and stated.get(name) is None:
            continue
        cells = (value, stated.get(name), published.get(name))
        lines.append(f"{name:{width}}  " + "  ".join(f"{_cell(cell):>10}" for cell in cells))
    return [
        f"{result['model']} on {result['device']}: {result['instances']:,} held-out instances",
        *lines,
        *_effect_lines(result["effects"]),
        "agrees" if result["agrees"] else "does not agree",
    ]


def _effect_lines(rows: list[dict[str, Any]]) -> list[str]:
    """What each dial changes, one line per dial."""
    unit = "d(x, x')" if rows[0]["distance"] is not None else "sum of absolute differences"
    width = max(len(result["name"]) for result in rows)
    title = (
        f"sliders, from percentile {LOW} to {HIGH} (mean {unit}, share of the strongest slider's; "
        f"little effect: below {LITTLE:.0%}):"
    )
    return [
        title,
        *(
            f"  {result['name']:{width}}  "
            f"{result['change'] if result['distance'] is None else result['distance']:10.4f}  "
            f"{result['share']:6.1%}{'  little effect' * result['little']}"
            for result in rows
        ),
    ]


def _flatten_numbers(numbers: dict[str, Any]) -> dict[str, Any]:
    """One name a number, in the order in which they are read."""
    flat: dict[str, Any] = {"error": numbers["mean"], "error, z sampled": numbers["sampled"]}
    nll = numbers.get("nll", {})
    flat |= {"nll": nll.get("mean"), "nll, z sampled": nll.get("sampled")}
    measured = dict(numbers.get("disentanglement", {}))
    flat["mig"] = measured.pop("mig", None)
    for reading in ("dci", "dci_exchanged"):
        parts = measured.pop(reading, {})
        flat[reading] = parts.get("disentanglement")
        flat[f"{reading} completeness"] = parts.get("completeness")
        flat[f"{reading} informativeness"] = parts.get("informativeness")
    measured.pop("instances", None)
    flat |= measured
    agreement = numbers.get("code_agreement", {})
    return flat | {
        "agreement of codes and digits": agreement.get("agreement"),
        "accuracy of the classifier": agreement.get("classifier_accuracy"),
    }


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _read_published(stated: QualityMeasures) -> PublishedScores:
    error, measured = stated.held_out_error, stated.disentanglement
    return PublishedScores(
        error=None if error is None else error.published,
        mig=None if measured is None else measured.mig_published,
        dci=None if measured is None else measured.dci_published,
    )


def _plain(measured: QualityMeasures) -> dict[str, Any]:
    error, nll = measured.held_out_error, measured.held_out_nll
    rows: dict[str, Any] = {"mean": error and error.mean, "sampled": error and error.sampled}
    if nll is not None:
        rows["nll"] = nll.model_dump(mode="json", include={"mean", "sampled"})
    if measured.disentanglement is not None:
        rows["disentanglement"] = measured.disentanglement.model_dump(mode="json")
    if measured.code_agreement is not None:
        rows["code_agreement"] = measured.code_agreement.model_dump(mode="json")
    return rows


def _agree(computed: QualityMeasures, stated: QualityMeasures) -> bool:
    """Whether the computed numbers agree with all that the card states."""
    if any(getattr(computed, name) is None for name, value in stated.fields().items() if value):
        return False
    agrees = True
    for name in ("held_out_error", "held_out_nll"):
        actual, other = getattr(computed, name), getattr(stated, name)
        if other is not None:
            agrees &= _near(actual.mean, other.mean) and _near(actual.sampled, other.sampled)
    if stated.disentanglement is not None:
        actual, other = computed.disentanglement, stated.disentanglement
        assert actual is not None
        agrees &= _near(actual.mig, other.mig)
        for reading in ("dci", "dci_exchanged"):
            ours, theirs = getattr(actual, reading), getattr(other, reading)
            agrees &= abs(ours.disentanglement - theirs.disentanglement) <= TREES_TOLERANCE
            agrees &= abs(ours.completeness - theirs.completeness) <= TREES_TOLERANCE
            agrees &= abs(ours.informativeness - theirs.informativeness) <= TREES_TOLERANCE
    if stated.code_agreement is not None:
        assert computed.code_agreement is not None
        difference = computed.code_agreement.agreement - stated.code_agreement.agreement
        agrees &= abs(difference) <= AGREEMENT_TOLERANCE
    return agrees


def _near(value: float | None, stated: float | None) -> bool:
    if value is None or stated is None:
        return value is stated
    return abs(value - stated) <= TOLERANCE * max(abs(stated), TOLERANCE)
