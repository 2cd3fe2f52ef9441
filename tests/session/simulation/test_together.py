"""Several simulated sessions at once, whose pictures are decoded together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from labapp.models.datasets.split import Float32
from labapp.models.representations.decoders import Forward, LoadedDecoder
from labapp.record.events import Event, Payload
from labapp.session.pictures import load_warm
from labapp.session.simulation.simulation_job import SimulationJob, run_job, run_jobs
from labapp.session.simulation.together import TogetherDecoding
from labapp.study.loading import load

MODELS = ("sinelines/ae", "sinelines/vae")


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
    together = TogetherDecoding()
    first, second = (together.share(counted(decoder, calls)) for decoder in loaded)

    def looks(decoder: LoadedDecoder, *sizes: int) -> list[Float32]:
        return [decoder.decode(states(n, decoder)) for n in sizes]

    tasks = [(first, 1, 2), (second, 3), (first, 4), (first, 5, 6)]
    seen = together.run([partial(looks, *task) for task in tasks])
    # The largest first: 1 + 4 + 5, then 2 + 6 of the same, then the other's 3.
    assert calls == [("sinelines/ae", 10), ("sinelines/ae", 8), ("sinelines/vae", 3)]
    for (decoder, *sizes), pictures in zip(tasks, seen, strict=True):
        alone = loaded[0] if decoder is first else loaded[1]
        for n, picture in zip(sizes, pictures, strict=True):
            np.testing.assert_array_equal(picture, alone.decode(states(n, alone)))
    first.decode(states(2, first))
    assert calls[-1] == ("sinelines/ae", 2), "outside of tasks, nobody is waited for"


def test_one_task_runs_at_a_time(loaded: list[LoadedDecoder]) -> None:
    together = TogetherDecoding()
    shared = together.share(loaded[0])
    running: list[int] = []

    def task(number: int) -> int:
        for _ in range(3):
            running.append(number)
            assert running == [number]
            running.remove(number)
            shared.decode(states(1, shared))
        return number

    assert together.run([partial(task, n) for n in range(5)]) == list(range(5))


def test_an_error_is_the_first_that_failed_and_the_others_end(loaded: list[LoadedDecoder]) -> None:
    together = TogetherDecoding()
    shared, ended = together.share(loaded[0]), []

    def fails() -> None:
        shared.decode(states(1, shared))
        raise LookupError("first")

    def ends() -> None:
        for _ in range(3):
            shared.decode(states(1, shared))
        ended.append("second")

    with pytest.raises(LookupError, match="first"):
        together.run([fails, ends])
    assert ended == ["second"]


def test_a_decoder_that_fails_fails_those_who_want_it(loaded: list[LoadedDecoder]) -> None:
    def broken(z: Float32) -> Float32:
        raise MemoryError("of pictures")

    together = TogetherDecoding()
    forward = loaded[0].forward
    assert isinstance(forward, Forward)
    bad = together.share(replace(loaded[0], forward=replace(forward, compute=broken)))
    good, seen = together.share(loaded[1]), []
    tasks: list[Callable[[], Any]] = [
        lambda: bad.decode(states(1, bad)),
        lambda: seen.append(good.decode(states(1, good))),
    ]
    with pytest.raises(MemoryError, match="of pictures"):
        together.run(tasks)
    assert len(seen) == 1


def test_only_networks_that_give_the_same_bits_are_shared(loaded: list[LoadedDecoder]) -> None:
    together = TogetherDecoding()
    closed = load_warm(["sinelines/gt"], "cpu").decoders["sinelines/gt"]
    assert together.share(closed) is closed
    forward = loaded[0].forward
    assert isinstance(forward, Forward)
    trained = replace(loaded[0], forward=replace(forward, engine="torch"))
    assert together.share(trained) is trained


def everything(events: Sequence[tuple[Event, Payload]], name: str) -> Any:
    left_out = ("segment.started", "environment.recorded", "decoder.warmed")
    return [(event.t_ns, *event[4:]) for event, _ in events if event.kind not in left_out], name


@pytest.mark.parametrize(
    ("study", "cell", "strategies"),
    [
        ("quickstart", (), ("understanding", "partial", "ascent", "random")),
        ("synthetic-crowd", ("reconstruction-dsprites",), ("ascent", "partial")),
    ],
)
def test_sessions_together_are_those_alone(
    study: str, cell: tuple[str, ...], strategies: tuple[str, ...]
) -> None:
    loaded = load(study)
    jobs = [
        SimulationJob(
            loaded, loaded.study.participants.label(n), cell, strategy, None, fold=everything
        )
        for n, strategy in enumerate(strategies, start=1)
    ]
    assert [each.folded for each in run_jobs(jobs)] == [run_job(job).folded for job in jobs]
