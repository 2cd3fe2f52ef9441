"""Files that somebody else made, computed first in a process of their own: TorchScript and
torch.export files, which become ONNX graphs there, and ONNX graphs."""

from __future__ import annotations

import io
import json
import pickletools
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from labapp.base.errors import ModelError
from labapp.base.installation import install_command, module_command, require, wait_or_kill
from labapp.base.reading import archives, files
from labapp.models.datasets.split import Float32
from labapp.models.representations.importing import memory
from labapp.models.representations.importing.child import (
    GRAPH_COPIES,
    GRAPH_MEMORY,
    MEMORY,
    SECONDS,
    receive,
    send,
)

Format = Literal["torchscript", "torch-export"]
PATIENCE_S = 60
"""A process that takes longer until its next answer is ended; on most systems it is ended before,
after `SECONDS` of computing."""
_OPENED = {
    False: "It was opened without access to files or the network.",
    True: "It was opened with --trust, so it could read and write files.",
}
"""By whether it was trusted."""
TITLES = {"onnx": "ONNX", "torchscript": "TorchScript", "torch-export": "torch.export"}


def import_onnx(*, torch: bool = False) -> Any:
    """The package onnx. torch: whether a file of torch is converted. Raises ModelError with the
    command that installs what is missing."""
    try:
        import onnx
        import onnxruntime  # noqa: F401

        if torch:
            require("torch")
    except ImportError as error:
        raise ModelError(
            f"Importing models needs packages that are not installed ({error.name}).",
            todo=f"Install what it needs: {install_command('import,torch' if torch else 'import')}",
        ) from error
    return onnx


@dataclass(frozen=True)
class Conversion:
    """A graph, and what the file itself makes of latents.

    Attributes
    ----------
    graph : ONNX.
    decoded : ndarray
        Of the latents that were given, shape (n, ...), float32.
    operators : of the file, such as `aten::relu`.
    torch : the version that opened it.
    """

    graph: bytes
    decoded: Float32
    operators: tuple[str, ...]
    torch: str


def convert(
    path: Path | str,
    content: bytes,
    kind: Format,
    latents: Float32,
    *,
    trusted: bool = False,
    todo: str = "Check the file and the latents, or export it as ONNX instead.",
) -> Conversion:
    """Convert a file to ONNX, and compute what it makes of latents itself. Raises ModelError: it
    cannot be opened in a sandbox, or contains operators that cannot be converted.

    path : for messages.
    latents : or what else it takes, shape (n, ...).
    trusted : open it without shutting the process in.
    todo : what to look at if it fails on them.
    """
    refuse_other_kind(path, content, kind)
    with _child() as child:
        try:
            asked: dict[str, Any] = {"format": kind, "trusted": trusted, "seconds": SECONDS}
            asked["memory"] = memory.most(MEMORY) or MEMORY
            child.send(json.dumps(asked).encode())
            about = (trusted, latents.shape[1:], todo)
            _answer(path, kind, child, *about)
            child.send(content)
            child.send(_encode_array(latents))
            facts = _answer(path, kind, child, *about)
            graph = child.receive()
            batches: list[Float32] = []
            while sum(map(len, batches)) < len(latents):
                _answer(path, kind, child, *about)
                batches.append(np.load(io.BytesIO(child.receive()), allow_pickle=False))
                if batches[-1].ndim == 0 or not len(batches[-1]):
                    raise EOFError
        except (EOFError, BrokenPipeError, ValueError) as error:
            how = child.ended()
            if how == _TOO_LONG:
                raise ModelError(
                    f"{path} was not imported: it was still computing after {SECONDS} seconds.",
                    safe=f"{_OPENED[trusted]} The process was ended, and no model was made.",
                    todo=_FASTER,
                ) from error
            raise ModelError(
                f"{path} could not be converted: the process that opened it ended {how}.",
                safe=f"{_OPENED[trusted]} No model was made.",
                todo="Check that the file can be run by the torch that is installed here, and "
                f"that it needs less than 4 GiB of memory and less than {SECONDS} seconds.",
            ) from error
    return Conversion(
        graph, np.concatenate(batches), tuple(facts["operators"]), str(facts["torch"])
    )


def refuse_other_kind(path: Path | str, content: bytes, kind: str) -> None:
    """Raises ModelError for a file of torch that holds something else than this kind of program."""
    if what := _other_kind(content, kind):
        raise ModelError(
            f"{path} is not in the {TITLES[kind]} format: it contains {what}.",
            safe="It was only inspected, and nothing in it was run. No model was made.",
            todo=_SAVED_BY[kind],
        )


_SAVED_BY = {
    "onnx": "Build the decoder in Python, load its weights, and export it as ONNX, with "
    "torch.onnx.export.",
    "torchscript": "Build the decoder in Python, load its weights, and save it with "
    "torch.jit.save(torch.jit.trace(decoder.eval(), latents), FILE); or export it as ONNX.",
    "torch-export": "Build the decoder in Python, load its weights, and save it with "
    "torch.export.save(torch.export.export(decoder.eval(), (latents,)), FILE); or export it as "
    "ONNX.",
}
_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How files of torch.save began before torch 1.6."""


def _other_kind(content: bytes, kind: str) -> str:
    """What a file of torch holds instead of a program of this kind, in words; empty if it may be
    one. It is only looked at: unpickling it could run anything."""
    if content.startswith(_LEGACY):
        return "data written by torch.save, which is either weights or a pickled module"
    try:
        with archives.archive(io.BytesIO(content)) as opened:
            names = {entry.partition("/")[2] for entry in opened.namelist()}
            top = next((e for e in opened.namelist() if e.partition("/")[2] == "data.pkl"), "")
            if "constants.pkl" in names:
                other = "a TorchScript program (--torchscript takes it)"
                return other if kind != "torchscript" else ""
            if not top:
                return ""  # torch.export's, or no file of torch: opening it says so
            with archives.member(opened, top) as stream:
                pickled = files.within(stream, files.DOCUMENT)
            first = next(
                (arg for code, arg, _ in pickletools.genops(pickled) if code.name == "GLOBAL"), ""
            )
    except (OSError, ValueError, KeyError, IndexError, StopIteration):
        return ""
    tensors = ("collections OrderedDict", "torch._utils _rebuild_tensor_v2")
    if str(first) in tensors:
        return "only weights (a state_dict written by torch.save), without a decoder that uses them"
    return f"a pickled module ({first}), which only its own Python code can open"


_TOO_LONG = "too late"
_FASTER = (
    "Remove loops that may not end, or use a decoder with fewer weights or smaller pictures. "
    "In a session, each picture must be ready within a moment."
)
_TRIED: set[tuple[str, tuple[int, ...]]] = set()
"""Graphs that answered, by the hash of their content and the shape of an input."""


def try_graph(name: Path | str, content: bytes, inputs: Float32) -> None:
    """Compute an ONNX graph in a process of its own, before this process opens it. Raises
    ModelError: it takes more memory than it may, or does not answer within `SECONDS`. `name`: for
    messages. `inputs`: each of them is computed alone, and all together; shape (n, ...)."""
    key = sha256(content).hexdigest(), inputs.shape[1:]
    if key in _TRIED:
        return
    at_most = GRAPH_MEMORY + GRAPH_COPIES * len(content)
    safe = "It ran in a separate process, which was ended. No model was loaded."
    with _child() as child:
        try:
            asked: dict[str, Any] = {"format": "onnx", "seconds": SECONDS}
            asked["memory"] = memory.most(at_most) or at_most
            child.send(json.dumps(asked).encode())
            child.receive(_SHORT)
            child.patience_s = SECONDS  # all that it needs is loaded by now
            child.send(content)
            child.send(_encode_array(inputs))
            answer = {"more": True}
            while answer.get("more"):
                answer = json.loads(child.receive(_SHORT))
        except (EOFError, BrokenPipeError, ValueError) as error:
            how = child.ended()
            why = f"the process that computed it ended {how}"
            if how == _TOO_LONG:
                why = f"it was still computing after {SECONDS} seconds"
            raise ModelError(
                f"The graph of {name} cannot be used: {why}.", safe=safe, todo=_FASTER
            ) from error
    if "refused" in answer:
        what = f"The graph of {name} cannot be used: {memory.describe_shortage(at_most)}."
        raise ModelError(what, safe=safe, todo=memory.ADVICE)
    _TRIED.add(key)


_SHORT = 1 << 20
"""Bytes of an answer that is no array."""


def _encode_array(array: Float32) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


class _Child:
    """The process, and a clock that ends it when it does not answer."""

    def __init__(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self._process, self._errors, self._late = process, errors, False
        self.patience_s = PATIENCE_S

    def send(self, content: bytes) -> None:
        """Raises BrokenPipeError if it ended."""
        assert self._process.stdin is not None
        with self._clock():
            send(self._process.stdin, content)

    def receive(self, largest: int = 1 << 32) -> bytes:
        """Its next frame. Raises EOFError if it ended, ValueError for a longer frame."""
        assert self._process.stdout is not None
        with self._clock():
            return receive(self._process.stdout, largest)

    @contextmanager
    def _clock(self) -> Iterator[None]:
        clock = threading.Timer(self.patience_s, self._too_late)
        clock.daemon = True
        clock.start()
        try:
            yield
        finally:
            clock.cancel()

    def _too_late(self) -> None:
        self._late = True
        self._process.kill()

    def ended(self) -> str:
        """How it ended, in words; `_TOO_LONG` if it computed for too long."""
        code = wait_or_kill(self._process, 1)
        if self._late or code == -getattr(signal, "SIGXCPU", 0):
            return _TOO_LONG
        self._errors.seek(0)
        last = self._errors.read()[-400:].decode(errors="replace").strip().rpartition("\n")[2]
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return f"{how} ({last})" if last else how


@contextmanager
def _child() -> Iterator[_Child]:
    from labapp.models.representations.importing.child import command

    import_onnx(torch=True)
    program = module_command("labapp.models.representations.importing.child")
    # What torch warns of goes to a pipe: from inside nothing can be written to a file.
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as child,
    ):
        assert child.stderr is not None
        reader = threading.Thread(target=_drain, args=(child.stderr, errors), daemon=True)
        reader.start()
        try:
            yield _Child(child, errors)
        finally:
            child.kill()
            reader.join(5)


def _drain(stream: IO[bytes], file: IO[bytes]) -> None:
    while block := stream.read1(65536):  # type: ignore[attr-defined]
        file.write(block)
    file.flush()


def _answer(
    path: Path | str, kind: Format, child: _Child, trusted: bool, given: tuple[int, ...], todo: str
) -> dict[str, Any]:
    """What the child says. Raises ModelError if it refuses."""
    fields: dict[str, Any] = json.loads(child.receive(_SHORT))
    if (refused := fields.get("refused")) is None:
        return fields
    title = TITLES[kind]
    if refused == "sandbox":
        raise ModelError(
            f"{path} was not opened: a {title} file is a program, and it cannot be sandboxed on "
            f"this machine: {fields['why']}.",
            safe="Nothing in it was run.",
            todo="Export it as ONNX, import it on a Linux machine, or add --trust if you made "
            "the file yourself.",
        )
    if refused == "operators":
        operators = ", ".join(fields["operators"])
        why = (
            " Some of these draw at random: the same input would give a different result each time."
            if fields["draws"]
            else ""
        )
        raise ModelError(
            f"{path} was not converted, because it uses operators that may do more than "
            f"compute: {operators}.{why}",
            safe=f"{_OPENED[trusted]} No model was made.",
            todo="Remove them before the export, or export the decoder as ONNX instead.",
        )
    if refused == "memory":
        raise ModelError(
            f"{path} was not imported: {memory.describe_shortage(MEMORY)}.",
            safe=f"{_OPENED[trusted]} No model was made.",
            todo=memory.ADVICE,
        )
    what = {
        "open": f"is not a file in the {title} format that torch can open",
        "convert": "cannot be converted to ONNX",
        "run": f"fails on input of the shape ({', '.join(map(str, ('n', *given)))})",
    }[refused]
    raise ModelError(
        f"{path} {what}: {fields['why'].rstrip('.')}.",
        safe=f"{_OPENED[trusted]} No model was made.",
        todo=todo,
    )
