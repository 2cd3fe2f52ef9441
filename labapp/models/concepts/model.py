"""A trained concept learner behind numbers of numpy: float64 in and out, rows a thousand at a
time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from labapp.base.errors import ModelError
from labapp.models.concepts.card import Card
from labapp.models.concepts.learner import ConceptLearner, in_memory
from labapp.models.datasets.concepts.rows import ConceptRows
from labapp.models.datasets.split import Float64, chunks

ROWS = 1_000
"""Rows that go through a network at a time."""


class Answering(Protocol):
    """What a model is asked for: a `learner.ConceptLearner` in evaluation mode, or a lab's own."""

    @property
    def aligned(self) -> bool: ...
    @property
    def aligned_as_published(self) -> bool: ...
    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor: ...
    def maps(self, x: Tensor) -> Tensor | None: ...
    def beliefs(self, x: Tensor) -> Tensor | None: ...
    def task_logits(self, x: Tensor) -> Tensor | None: ...
    def predict_from(self, codes: Tensor) -> Tensor | None: ...


class ConceptModel:
    """What a model makes of rows of its task, which are prepared as those it learned from.

    Attributes
    ----------
    values : what a code becomes when its concept is set off and on, float64, shape (k, 2); None
        where no concept can be set.
    card : of its package; None while it is measured.
    """

    def __init__(
        self,
        learner: Answering,
        values: Float64 | None = None,
        card: Card | None = None,
    ) -> None:
        if isinstance(learner, ConceptLearner):
            learner.networks.eval()
        self._learner = learner
        self._card = card
        self.values = values

    @property
    def card(self) -> Card:
        assert self._card is not None, "asked of a model that is being measured"
        return self._card

    @property
    def aligned(self) -> bool:
        """Whether OIS aligns the codes: they were learned without concepts."""
        return self._learner.aligned

    @property
    def aligned_as_published(self) -> bool:
        """Whether the released code does so."""
        return self._learner.aligned_as_published

    def codes(self, rows: ConceptRows, *, as_published: bool = False) -> Float64:
        """Codes of all rows, float64, shape (n, k) or (n, k, d)."""
        codes = self._over(rows, lambda x: self._learner.codes(x, as_published=as_published))
        assert codes is not None
        return codes

    def maps(self, rows: ConceptRows) -> Float64 | None:
        """The maps that codes sum up, float64 (n, k, height, width); None where there are none."""
        return self._over(rows, self._learner.maps)

    def beliefs(self, rows: ConceptRows) -> Float64 | None:
        """How probable each concept is, float64 (n, k); None where no concept is known."""
        return self._over(rows, self._learner.beliefs)

    def task_logits(self, rows: ConceptRows) -> Float64 | None:
        """A logit for each class, float64, shape (n, classes); None where no class is learned."""
        return self._over(rows, self._learner.task_logits)

    def predict_from(self, codes: Float64) -> Float64 | None:
        """The same from codes of shape (n, k) or (n, k, d); None where there is no predictor."""
        parts = []
        with torch.inference_mode():
            for chosen in chunks(len(codes), ROWS):
                x = torch.from_numpy(codes[chosen].astype(np.float32))
                logits = self._learner.predict_from(x)
                if logits is None:
                    return None
                parts.append(logits.double().numpy())
        return np.concatenate(parts)

    def intervened(self, rows: ConceptRows, setting: Mapping[int, int]) -> Float64:
        """Class logits of all rows after some concepts, by their number from 0, were set to 0 or 1:
        float64, shape (n, classes). Raises ModelError: no concept of this model can be set, or
        there is none of that number."""
        codes = self.codes(rows)
        values = settable(self)
        for concept, value in setting.items():
            if not 0 <= concept < len(values) or value not in (0, 1):
                raise ModelError(
                    f"Concept {concept} cannot be set to {value}: concepts are 0 to "
                    f"{len(values) - 1}, and are set to 0 or 1.",
                    safe="Nothing was computed.",
                )
            codes[:, concept] = values[concept, value]
        logits = self.predict_from(codes)
        assert logits is not None
        return logits

    def _over(
        self, rows: ConceptRows, compute: Callable[[Tensor], Tensor | None]
    ) -> Float64 | None:
        memory = in_memory(rows)
        parts = []
        with torch.inference_mode():
            for chosen in chunks(len(memory), ROWS):
                values = compute(memory.batch(chosen).x)
                if values is None:
                    return None
                parts.append(values.double().numpy())
        return np.concatenate(parts)


def settable(model: ConceptModel) -> Float64:
    """The model's values, shape (k, 2). Raises ModelError: none of its concepts can be set."""
    if model.values is None:
        raise ModelError(
            "None of the concepts of this model can be set: its codes are of no known concept, or "
            "nothing is predicted from them.",
            safe="Nothing was computed.",
            todo="Choose a concept bottleneck model (cbm or cbm-logits).",
        )
    return model.values
