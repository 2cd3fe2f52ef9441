"""The decoders of a recorded session: loaded when they are needed, or behind a window's back."""

from __future__ import annotations

from time import sleep

import numpy as np
import pytest

from labapp.base.errors import DeviceMissing, ModelError
from labapp.models.representations import package
from labapp.models.representations.decoding import Decoder
from labapp.session.pictures import read_decoder
from labapp.session.replay.history import RecordedDecoders

FORMULA = "sinelines/gt"


def test_a_model_that_is_not_here_is_told_and_stands_in_nobodys_way() -> None:
    decoders = RecordedDecoders({"gone/model": "", FORMULA: ""})
    decoders.load_in_background()
    decoders.begin()
    while decoders.awaited(decoders):
        sleep(0.001)
    decoders.close()
    with pytest.raises(ModelError, match="gone/model cannot be shown"):
        decoders["gone/model"]
    assert decoders[FORMULA].id == FORMULA
    assert "gone/model" in decoders.problems
    with pytest.raises(KeyError):
        decoders["not/asked"]


def test_nothing_is_loaded_before_the_window_begins_with_it() -> None:
    decoders = RecordedDecoders({"gone/model": "", FORMULA: ""})
    decoders.load_in_background()
    assert decoders.awaited([FORMULA])
    assert decoders.problems == {}
    decoders.close()
    assert decoders.problems == {}, "loaded after it was closed"
    assert not decoders.awaited(decoders), "nothing comes any more"


def test_what_is_waited_for_is_loaded_first(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    load = RecordedDecoders._load

    def noted(self: RecordedDecoders, model: str) -> Decoder:
        loaded.append(model)
        return load(self, model)

    monkeypatch.setattr(RecordedDecoders, "_load", noted)
    decoders = RecordedDecoders({"circles/gt": "", FORMULA: ""})
    decoders.load_in_background()
    assert decoders.awaited([FORMULA])
    decoders.begin()
    while decoders.awaited([FORMULA, "circles/gt"]):
        sleep(0.001)
    assert loaded == [FORMULA, "circles/gt"]
    decoders.close()


def test_another_model_of_that_name_is_told() -> None:
    decoders = RecordedDecoders({FORMULA: "0" * 64})
    decoders[FORMULA]
    assert "has changed since the session" in decoders.problems[FORMULA]


def test_a_replay_decodes_on_the_processor_whatever_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that it needs no torch, as docs/guide/installing.md says."""
    monkeypatch.setenv("LABAPP_DEVICE", "cuda")
    monkeypatch.setattr(package, "find_spec", lambda name: None)
    decoder = RecordedDecoders({"sinelines/vae": ""})["sinelines/vae"]
    assert decoder.decode(np.zeros((1, decoder.space.width), np.float32)).shape[0] == 1
    with pytest.raises(DeviceMissing, match="unset LABAPP_DEVICE"):
        read_decoder("sinelines/vae")  # as a session and a preview do


def test_a_picture_is_made_once() -> None:
    decoder = RecordedDecoders({FORMULA: ""})[FORMULA]
    z = np.zeros((1, decoder.space.width), np.float32)
    first = decoder.decode(z)
    assert decoder.decode(z.copy()) is first
    assert not first.flags.writeable
