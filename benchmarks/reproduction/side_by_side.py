"""Trains many concept learners side by side on a GPU, as on a CPU but for rounding and noise.

A step of one small network leaves most of a GPU idle, and takes longer to ask for than to compute.
So the kernels of a step are recorded once for each learner (a CUDA graph) and then replayed, each
learner on a stream of its own. Rows lie on the GPU. The order of rows is that of a training on a
CPU; noise comes from a generator of the learner's own. Numbers are float32; convolutions multiply
them as TensorFloat-32.

Only for learners from pictures, and not for concept whitening, whose rotation is searched on the
CPU between two steps.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.reproduction import stopping
from benchmarks.reproduction.concept_models import Training, learner_of, loaded, stops
from benchmarks.reproduction.results import Asked
from labapp.models.concepts.learner import TrainingRows, in_memory
from labapp.models.concepts.recipe import RATE, SizeName
from labapp.models.concepts.training import order_of, steps_of
from labapp.models.training.loop import one_cycle, versions

PRECISION = "float32, convolutions in TensorFloat-32"
WARM_UP = 3
"""Steps before a step is recorded, which are undone."""
AT_ONCE = 8
"""Steps that a learner is given before the next one's turn."""
Weights = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Job:
    """A learner to train for a report of a size."""

    asked: Asked
    size: SizeName
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """A trained learner: its weights, and how it came about; `reached`: where that decided when it
    was over, the accuracy of each concept on validation rows."""

    job: Job
    weights: Weights
    training: Training
    reached: Sequence[float] = ()


class Noise:
    """Standard normal numbers drawn on the GPU, in place of numpy's generator."""

    def __init__(self, device: torch.device, seed: int) -> None:
        self.generator = torch.Generator(device).manual_seed(seed)

    def standard_normal(self, shape: tuple[int, ...], dtype: object = None) -> Tensor:
        return torch.randn(shape, device=self.generator.device, generator=self.generator)


class Runner:
    """A learner in training.

    Parameters
    ----------
    rows : those of its task to train on, and to validate on, on the device; `on_cpu` the former.
    """

    def __init__(
        self, job: Job, rows: TrainingRows, validation: TrainingRows, on_cpu: TrainingRows
    ) -> None:
        self.job, self.recipe = job, job.asked.recipe(job.size, job.seed)
        self.stops = stops(job.asked, self.recipe)
        self.device = rows.x.device
        self.learner = learner_of(self.recipe, loaded(self.recipe))
        self.on_gpu = self.device.type == "cuda"
        if self.on_gpu:
            self.learner.networks.to(self.device, memory_format=torch.contiguous_format)  # type: ignore[call-overload]
        self.learner.descend = self._descend  # type: ignore[method-assign]
        self.noise = Noise(self.device, job.seed)
        self.rows, self.all_rows, self.validation, self.on_cpu = rows, rows, validation, on_cpu
        self.per_epoch = steps_of(self.learner, len(self._order(0, 0)))
        self.seconds, self.epochs, self.phase, self.epoch = 0.0, 0, -1, 0
        self.accuracies: list[float] = []
        self.stream = torch.cuda.Stream(self.device) if self.on_gpu else None  # type: ignore[no-untyped-call]
        self.asked_for: torch.cuda.Event | None = None
        for optimizer in self.learner.optimizers:
            for group in optimizer.param_groups:
                group["capturable"] = self.on_gpu
        self._begin()

    def advance(self) -> bool:
        """Asks for the next steps, unless the device is still at this epoch. Whether that was its
        last."""
        if self.at == self.per_epoch:
            return self._ended()
        with torch.cuda.stream(self.stream):
            for _ in range(min(AT_ONCE, self.per_epoch - self.at)):
                self.at += 1
                if self.on_gpu:
                    self.graphs[self.at == self.per_epoch].replay()
                else:
                    self._step(self._count(self.at == self.per_epoch))
            if self.at == self.per_epoch and self.on_gpu:
                self.asked_for = torch.cuda.Event()  # type: ignore[no-untyped-call]
                self.asked_for.record(self.stream)
        return False

    def done(self) -> Done:
        with torch.cuda.stream(self.stream):
            state = self.learner.networks.state_dict()
            weights = {name: value.cpu().numpy().copy() for name, value in state.items()}
        on_gpu: dict[str, Any] = {"seconds": self.seconds, "precision": PRECISION}
        if self.on_gpu:
            on_gpu["device"] = torch.cuda.get_device_name(self.device)
        rule = stopping.RULE if self.stops else ""
        training = Training(self.epochs, 0.0, versions(), rule=rule, on_gpu=on_gpu)
        return Done(self.job, weights, training, [round(each, 4) for each in self.accuracies])

    def _order(self, phase: int, epoch: int) -> NDArray[np.int64]:
        return order_of(self.learner, self.on_cpu, self.recipe.seed, phase, epoch)

    def _begin(self) -> None:
        """Begins the next phase."""
        self.phase, self.epoch = self.phase + 1, 0
        epochs = stopping.MOST if self.stops else self.learner.phases[self.phase].epochs
        steps = epochs * self.per_epoch
        peak, cycle = self.learner.setup.size.peak, one_cycle(0.3)
        if self.stops:
            rates = [stopping.rate(i / self.per_epoch) for i in range(steps)]
        else:
            rates = [RATE if peak is None else peak * cycle(i / steps) for i in range(steps)]
        self.at = 0
        with torch.cuda.stream(self.stream):
            if self.stream is not None:
                self.stream.wait_stream(torch.cuda.default_stream())
            self.learner.networks.train()
            self.rows = self.learner.begin(self.phase, self.all_rows)
            first = torch.from_numpy(self._order(self.phase, 0))
            self.order = first.to(self.device)
            self.rates = torch.tensor(rates, dtype=torch.float32, device=self.device)
            self.rate = self.rates[0].clone()
            self.place = torch.zeros(1, dtype=torch.int64, device=self.device)
            self.taken = torch.zeros(1, dtype=torch.int64, device=self.device)
            self.within = torch.arange(self.learner.batch, device=self.device)
            self.loss = torch.zeros((), device=self.device)
            if self.on_gpu:
                self._record()

    def _record(self) -> None:
        """Records a step of a whole batch, and the last one of an epoch."""
        before = {name: value.clone() for name, value in self._state().items()}
        for _ in range(WARM_UP):
            for last in (False, True):
                self._step(self._count(last))
        with torch.no_grad():
            for name, value in self._state().items():
                # What an optimizer did not know before its first step is 0.
                value.copy_(before[name]) if name in before else value.zero_()
        torch.cuda.synchronize()
        self.graphs = []
        for last in (False, True):
            graph = torch.cuda.CUDAGraph()
            graph.register_generator_state(self.noise.generator)
            with torch.cuda.graph(graph, stream=self.stream):
                self._step(self._count(last))
            self.graphs.append(graph)

    def _state(self) -> dict[str, Tensor]:
        """All that a step changes, by name."""
        state = dict(self.learner.networks.state_dict())
        for number, optimizer in enumerate(self.learner.optimizers):
            names = {id(p): n for n, p in self.learner.networks.named_parameters()}
            for parameter, moments in optimizer.state.items():
                for name, value in moments.items():
                    state[f"adam.{number}.{names[id(parameter)]}.{name}"] = value
        return state | {"place": self.place, "taken": self.taken}

    def _count(self, last: bool) -> int:
        """Rows of a step."""
        whole = self.learner.batch
        return min(whole, len(self.order) - (self.per_epoch - 1) * whole) if last else whole

    def _step(self, count: int) -> None:
        numbers = self.order.index_select(0, self.place + self.within[:count])
        self.rate.copy_(self.rates.index_select(0, self.taken)[0])
        losses = self.learner.step(
            self.rows.batch(numbers), cast(np.random.Generator, self.noise), 0.0
        )
        self.loss.copy_(torch.as_tensor(losses["loss"]))
        self.place += count
        self.taken += 1

    def _descend(self, optimizer: torch.optim.Adam, loss: Tensor, done: float) -> None:
        for group in optimizer.param_groups:
            group["lr"] = self.rate if self.on_gpu else float(self.rate)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    def _ended(self) -> bool:
        """Whether the training is over, where the device has come to the end of an epoch."""
        if self.asked_for is not None and not self.asked_for.query():  # type: ignore[no-untyped-call]
            return False
        self.epoch, self.epochs = self.epoch + 1, self.epochs + 1
        if self.epoch % 10 == 0 and not bool(torch.isfinite(self.loss)):
            raise FloatingPointError(f"{self.job}: the loss is not finite")
        over = self.epoch == self.learner.phases[self.phase].epochs
        if self.stops and self.epochs >= stopping.LEAST:
            self.accuracies = self._validated()
            over = stopping.is_over(self.epochs, self.accuracies)
        if over and self.phase + 1 == len(self.learner.phases):
            return True
        if over:
            self._begin()
            return False
        self.at = 0
        order = torch.from_numpy(self._order(self.phase, self.epoch))
        with torch.cuda.stream(self.stream):
            self.order.copy_(order)
            self.place.zero_()
        return False

    def _validated(self) -> list[float]:
        """Of each concept, the accuracy on validation rows."""
        networks = self.learner.networks.eval()
        with torch.cuda.stream(self.stream), torch.no_grad():
            beliefs = self.learner.beliefs(self.validation.batch(np.arange(len(self.validation))).x)
            assert beliefs is not None
            right = (beliefs >= 0.5) == (self.validation.concepts >= 0.5)
            accuracies: list[float] = right.double().mean(dim=0).tolist()
        networks.train()
        return accuracies


def train(
    jobs: Sequence[Job], device: torch.device, width: int, ends: float = math.inf
) -> Iterator[Done | None]:
    """Trains learners, so many at once, and gives each as it is finished, and None now and then.
    Those that are not by the time `ends` of the monotonic clock are given up."""
    torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32 = True, False
    torch.backends.cudnn.benchmark = True
    tasks: dict[int, tuple[TrainingRows, TrainingRows, TrainingRows]] = {}
    pending, active = deque(jobs), list[Runner]()
    before = time.monotonic()
    while (pending or active) and time.monotonic() < ends:
        while pending and len(active) < width:
            job = pending.popleft()
            data = loaded(job.asked.recipe(job.size, job.seed))
            if id(data) not in tasks:
                assert data.validation is not None
                on_cpu = in_memory(data.split.train)
                validation = in_memory(data.validation)
                tasks[id(data)] = (_moved(on_cpu, device), _moved(validation, device), on_cpu)
            try:
                active.append(Runner(job, *tasks[id(data)]))
            except (RuntimeError, ValueError, TypeError) as error:
                print(f"{job.asked.name}, seed {job.seed}: {error!r}", flush=True)
        now = time.monotonic()
        for runner in active:
            runner.seconds += (now - before) / len(active)
        before = now
        for runner in list(active):
            if runner.advance():
                active.remove(runner)
                yield runner.done()
        yield None


def _moved(rows: TrainingRows, device: torch.device) -> TrainingRows:
    return TrainingRows(*(x.to(device) for x in (rows.x, rows.concepts, rows.labels)))
