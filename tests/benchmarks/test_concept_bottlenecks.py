"""The bottleneck models of paper 001: layers, and what is said of codes of the earlier ones."""

from __future__ import annotations

import numpy as np
from torch import nn

from benchmarks.concept_bottlenecks import HIDDEN, KINDS, predictor
from benchmarks.reproduction import helper_widths


def test_the_label_predictor_has_the_two_hidden_layers_of_the_paper() -> None:
    layers = [layer for layer in predictor(5, 8) if isinstance(layer, nn.Linear)]
    assert [(layer.in_features, layer.out_features) for layer in layers] == [
        (5, 64),
        (64, 64),
        (64, 8),
    ]


def test_codes_of_other_predictors_are_marked() -> None:
    arrays = {"concepts": np.ones((4, 5)), "rendered": np.array(1.0)}
    for kind in KINDS:
        arrays[f"{kind}-0-accuracy"] = np.array([0.9, 0.8])
        arrays[f"{kind}-0-epochs"] = np.array(8.0)
    by_kind = {kind: [np.ones((4, 5))] for kind in KINDS}
    assert "not quite the paper" in helper_widths._told(arrays, by_kind, 1)
    arrays["hidden"] = np.array([64.0, 64.0, 64.0])
    assert "not quite the paper" in helper_widths._told(arrays, by_kind, 1)
    arrays["hidden"] = np.array(HIDDEN, dtype=float)
    assert "not quite the paper" not in helper_widths._told(arrays, by_kind, 1)
