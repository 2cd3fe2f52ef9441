"""Several simulated sessions at once, whose pictures are decoded together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labapp.models.datasets.split import Float32
from labapp.models.representations.decoders import Forward, LoadedDecoder
from labapp.record.events import Event, Payload
from labapp.session.pictures import load_warm
from labapp.session.simulation import together
from labapp.session.simulation.fitting import usual_shares
from labapp.session.simulation.simulation_job import SimulationJob, run_job, run_jobs
from labapp.session.simulation.together import TogetherDecoding
from labapp.study.loading import load

MODELS = ("mnist8k/ae5", "mnist8k/vae5")


def counted(decoder: LoadedDecoder, calls: list[tuple[str, int]]) -> LoadedDecoder:
    """The decoder, which notes how many pictures each call wants."""
    forward = decoder.forward
    assert isinstance(forward, Forward)

    def compute(z: Float32) -> Float32:
        calls.append((decoder.id, len(z)))
        return forward.compute(z)

    return replace(decoder, forward=replace(forward, compute=compute))


@pytest.fixture(scope="module")
def loaded() -> list[LoadedDecoder]:
    return [load_warm([model], "cpu").decoders[model] for model in MODELS]


def states(n: int, decoder: LoadedDecoder) -> Float32:
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, decoder.space.width)).astype(np.float32)


def test_those_that_wait_are_decoded_in_one_call(loaded: list[LoadedDecoder]) -> None:
    calls: list[tuple[str, int]] = []
    decoding = TogetherDecoding()
    first, second = (decoding.share(counted(decoder, calls)) for decoder in loaded)

    def looks(decoder: LoadedDecoder, *sizes: int) -> list[Float32]:
        return [decoder.decode(states(n, decoder)) for n in sizes]

    tasks = [(first, 1, 2), (second, 3), (first, 4), (first, 5, 6)]
    seen = decoding.run([partial(looks, *task) for task in tasks])
    # The largest first: 1 + 4 + 5, then 2 + 6 of the same, then the other's 3.
    assert calls == [("mnist8k/ae5", 10), ("mnist8k/ae5", 8), ("mnist8k/vae5", 3)]
    for (decoder, *sizes), pictures in zip(tasks, seen, strict=True):
        alone = loaded[0] if decoder is first else loaded[1]
        for n, picture in zip(sizes, pictures, strict=True):
            np.testing.assert_array_equal(picture, alone.decode(states(n, alone)))
    first.decode(states(2, first))
    assert calls[-1] == ("mnist8k/ae5", 2), "outside of tasks, nobody is waited for"


def test_one_task_runs_at_a_time(loaded: list[LoadedDecoder]) -> None:
    decoding = TogetherDecoding()
    shared = decoding.share(loaded[0])
    running: list[int] = []

    def task(number: int) -> int:
        for _ in range(3):
            running.append(number)
            assert running == [number]
            running.remove(number)
            shared.decode(states(1, shared))
        return number

    assert decoding.run([partial(task, n) for n in range(5)]) == list(range(5))


def test_an_error_is_the_first_that_failed_and_the_others_end(loaded: list[LoadedDecoder]) -> None:
    decoding = TogetherDecoding()
    shared, ended = decoding.share(loaded[0]), []

    def fails() -> None:
        shared.decode(states(1, shared))
        raise LookupError("first")

    def ends() -> None:
        for _ in range(3):
            shared.decode(states(1, shared))
        ended.append("second")

    with pytest.raises(LookupError, match="first"):
        decoding.run([fails, ends])
    assert ended == ["second"]


def test_a_decoder_that_fails_fails_those_who_want_it(loaded: list[LoadedDecoder]) -> None:
    def broken(z: Float32) -> Float32:
        raise MemoryError("of pictures")

    decoding = TogetherDecoding()
    forward = loaded[0].forward
    assert isinstance(forward, Forward)
    bad = decoding.share(replace(loaded[0], forward=replace(forward, compute=broken)))
    good, seen = decoding.share(loaded[1]), []
    tasks: list[Callable[[], Any]] = [
        lambda: bad.decode(states(1, bad)),
        lambda: seen.append(good.decode(states(1, good))),
    ]
    with pytest.raises(MemoryError, match="of pictures"):
        decoding.run(tasks)
    assert len(seen) == 1


def test_only_large_networks_that_give_the_same_bits_are_shared(
    loaded: list[LoadedDecoder],
) -> None:
    decoding = TogetherDecoding()
    for model in ("sinelines/gt", "dsprites/ae"):
        closed_or_small = load_warm([model], "cpu").decoders[model]
        assert decoding.share(closed_or_small) is closed_or_small
    forward = loaded[0].forward
    assert isinstance(forward, Forward)
    trained = replace(loaded[0], forward=replace(forward, engine="torch"))
    assert decoding.share(trained) is trained


def everything(events: Sequence[tuple[Event, Payload]], name: str) -> Any:
    left_out = ("segment.started", "environment.recorded", "decoder.warmed")
    return [(event.t_ns, *event[4:]) for event, _ in events if event.kind not in left_out], name


STUDY = """
{id: digits, title: Digits, version: 1, unnamed_texts: shipped, flow: [{stages: {task:
  reconstruction, models: [mnist8k/ae5, mnist8k/ss5], trials: 1, skip: after, skip_after_s: 20}}]}
"""


def test_sessions_together_are_those_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "digits.yaml"
    path.write_text(STUDY)
    loaded, calls = load(path), list[int]()
    jobs = [
        SimulationJob(loaded, f"P{n:02d}", (), strategy, None, fold=everything)
        for n, strategy in enumerate(usual_shares(loaded.study), start=1)
    ]
    alone = [run_job(job).folded for job in jobs]
    decode = together._decode

    def noted(compute: together.Compute, requests: Sequence[Any]) -> None:
        calls.append(len(requests))
        decode(compute, requests)

    monkeypatch.setattr(together, "_decode", noted)
    assert [each.folded for each in run_jobs(jobs)] == alone
    assert max(calls) > 1, "pictures of several sessions in one call"
