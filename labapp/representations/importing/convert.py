"""TorchScript and torch.export files as ONNX graphs, opened in a process that is shut in."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from labapp.errors import ModelError
from labapp.representations.importing import memory
from labapp.representations.importing.child import MEMORY, receive, send

Float32 = NDArray[np.float32]
Format = Literal["torchscript", "torch-export"]
PATIENCE_S = 900
"""A conversion that takes longer is ended."""
_OPENED = {
    False: "It was opened without files and network.",
    True: "It was opened as --trust asks: it could read and write files.",
}
"""By whether it was trusted."""
TITLES = {"torchscript": "TorchScript", "torch-export": "torch.export"}


@dataclass(frozen=True)
class Conversion:
    """A graph, and what the file itself makes of latents.

    Attributes
    ----------
    graph : bytes
        ONNX.
    decoded : ndarray
        Of the latents that were given, shape (n, ...), float32.
    operators : tuple of str
        Of the file, such as `aten::relu`.
    torch : str
        The version that opened it.
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
    todo: str = "Check the file and the latents, or export it as ONNX, and give that.",
) -> Conversion:
    """Convert a file to ONNX, and compute what it makes of latents itself.

    Parameters
    ----------
    path : Path
        For messages.
    latents : ndarray
        Or what else it takes, shape (n, ...).
    trusted : bool
        Open it without shutting the process in.
    todo : str
        What to look at where it fails on them.

    Raises
    ------
    ModelError : it cannot be opened apart, or holds what is not converted, with its operators.
    """
    with _child() as (child, errors):
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            asked = {"format": kind, "trusted": trusted, "memory": memory.most(MEMORY) or MEMORY}
            send(child.stdin, json.dumps(asked).encode())
            about = (trusted, latents.shape[1:], todo)
            _answer(path, kind, child.stdout, *about)
            send(child.stdin, content)
            file = io.BytesIO()
            np.save(file, latents, allow_pickle=False)
            send(child.stdin, file.getvalue())
            facts = _answer(path, kind, child.stdout, *about)
            graph = receive(child.stdout)
            batches: list[Float32] = []
            while sum(map(len, batches)) < len(latents):
                _answer(path, kind, child.stdout, *about)
                batches.append(np.load(io.BytesIO(receive(child.stdout)), allow_pickle=False))
                if batches[-1].ndim == 0 or not len(batches[-1]):
                    raise EOFError
        except (EOFError, BrokenPipeError, ValueError) as error:
            child.kill()
            code = child.wait()
            errors.seek(0)
            last = errors.read()[-400:].decode(errors="replace").strip().rpartition("\n")[2]
            raise ModelError(
                f"{path} could not be converted: the process that opened it ended "
                f"{_how(code)}{f' ({last})' if last else ''}.",
                safe=f"{_OPENED[trusted]} No model was made.",
                todo="Check that the file can be run by the torch that is installed here, and that "
                "it needs less than 4 GiB of memory and ten minutes.",
            ) from error
    return Conversion(
        graph, np.concatenate(batches), tuple(facts["operators"]), str(facts["torch"])
    )


def _how(code: int) -> str:
    return f"by signal {-code}" if code < 0 else f"with code {code}"


@contextmanager
def _child() -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    from labapp.representations.importing.sandbox import command

    # -P: a random.py in the folder that somebody works in is not the one that torch needs.
    program = [sys.executable, "-P", "-m", "labapp.representations.importing.child"]
    # What torch warns of goes to a pipe: from inside nothing can be written to a file.
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command(program),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as child,
    ):
        assert child.stderr is not None
        reader = threading.Thread(target=_drain, args=(child.stderr, errors), daemon=True)
        reader.start()
        clock = threading.Timer(PATIENCE_S, child.kill)
        clock.start()
        try:
            yield child, errors
        finally:
            clock.cancel()
            child.kill()
            reader.join(5)


def _drain(stream: IO[bytes], file: IO[bytes]) -> None:
    while block := stream.read1(65536):  # type: ignore[attr-defined]
        file.write(block)
    file.flush()


def _answer(
    path: Path | str,
    kind: Format,
    stream: IO[bytes],
    trusted: bool,
    given: tuple[int, ...],
    todo: str,
) -> dict[str, Any]:
    """What the child says. Raises ModelError where it refuses."""
    fields: dict[str, Any] = json.loads(receive(stream, 1 << 20))
    if (refused := fields.get("refused")) is None:
        return fields
    title = TITLES[kind]
    if refused == "sandbox":
        raise ModelError(
            f"{path} is not opened: a {title} file is a program, and it cannot be shut in on this "
            f"machine: {fields['why']}.",
            safe="Nothing of it was run.",
            todo="Export it as ONNX, import it on a Linux machine, or add --trust where you made "
            "the file yourself.",
        )
    if refused == "operators":
        operators = ", ".join(fields["operators"])
        why = (
            " Some of these draw at random: the same input would give something else each time."
            if fields["draws"]
            else ""
        )
        raise ModelError(
            f"{path} is not converted: it uses operators that are not among those that only "
            f"compute: {operators}.{why}",
            safe=f"{_OPENED[trusted]} No model was made.",
            todo="Leave them out of what is exported, or export it as ONNX, and give that.",
        )
    if refused == "memory":
        raise ModelError(
            f"{path} is not imported: {memory.told(MEMORY)}.",
            safe=f"{_OPENED[trusted]} No model was made.",
            todo=memory.TODO,
        )
    what = {
        "open": f"is no {title} file that torch can open",
        "convert": "cannot be converted to ONNX",
        "run": f"fails on input of the shape ({', '.join(map(str, ('n', *given)))})",
    }[refused]
    raise ModelError(
        f"{path} {what}: {fields['why'].rstrip('.')}.",
        safe=f"{_OPENED[trusted]} No model was made.",
        todo=todo,
    )
