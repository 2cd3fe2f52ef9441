"""The binary files of a model package, read without trusting them.

A model file comes from elsewhere: nothing in it is ever run, and no reader used here knows pickle.
Weights are safetensors, latents are plain float32 arrays in an npz. A file is read once, its size
and hash are checked, and only then is it parsed.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from labapp.base.errors import ModelError
from labapp.base.reading import archives
from labapp.base.reading import arrays as outside
from labapp.base.reading import files as reading

Float32 = NDArray[np.float32]

WEIGHTS = "decoder.safetensors"
GRAPH = "decoder.onnx"
LATENTS = "latents.npz"

LARGEST = 256 * reading.MIB
"""Most bytes of a model file, or of an array in it. The largest shipped file has 26 MB."""
_DTYPES = {"F32": "<f4", "F16": "<f2"}
"""Types of weights: large models are stored as float16, which makes no visible difference."""
_ADVICE = "Get a fresh copy of the model package from where it was published."
_SAFE = "The file was not opened as a model, and nothing in it was run."


def _refuse(what: str) -> ModelError:
    return ModelError(what, safe=_SAFE, todo=_ADVICE)


def digest(content: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def read_bytes(path: Path) -> bytes:
    """The whole file. Raises ModelError: missing, too large, or a link out of its folder."""
    try:
        if path.resolve().parent != path.parent.resolve():
            raise _refuse(f"{path} is a link to a place outside its model package.")
        return reading.content(path, LARGEST)
    except FileNotFoundError as error:
        raise _refuse(f"{path} is missing from the model package.") from error
    except (OSError, RuntimeError, ValueError) as error:  # of a loop of links; of a NUL
        why = getattr(error, "strerror", None) or error
        raise _refuse(f"{path} cannot be read: {why}.") from error


def _check_digest(path: Path, content: bytes, sha256: str) -> None:
    actual = digest(content)
    if actual != sha256:
        raise _refuse(
            f"{path} is not the file listed on its model card: its SHA-256 is {actual[:12]}..., "
            f"but the card states {sha256[:12]}.... It is damaged or incomplete, or belongs to "
            "another model."
        )


def _nature(content: bytes) -> str:
    """What a file that is no safetensors file seems to be, for the error text."""
    if content.startswith(b"PK"):
        return "a zip archive, as torch's .pt files are"
    # Protocol 2 and later begin with PROTO; 0 and 1 with text opcodes and end with STOP.
    if content[:1] == b"\x80" or (content[:1] in b"(cilp}]" and content[-1:] == b"."):
        return "a Python pickle"
    return "a damaged or foreign file"


def read_weights(path: Path, sha256: str) -> dict[str, Float32]:
    """The tensors of a safetensors file, by name, as float32 even if stored as float16. Raises
    ModelError: missing, too large, another hash than stated, a pickle, damaged, of another type, or
    holding a value that is not finite."""
    content = read_bytes(path)
    try:
        tensors = safetensors.deserialize(content)  # type: ignore[no-untyped-call]
    except safetensors.SafetensorError as error:
        raise _refuse(
            f"{path} is not a complete safetensors file, but {_nature(content)} ({error}). "
            "labapp does not open any other kind of weights, least of all a pickle."
        ) from error
    _check_digest(path, content, sha256)
    weights: dict[str, Float32] = {}
    for name, tensor in tensors:
        if tensor["dtype"] not in _DTYPES:
            raise _refuse(f"{path}: tensor {name!r} is {tensor['dtype']}; weights are F32 or F16.")
        values = np.frombuffer(tensor["data"], _DTYPES[tensor["dtype"]]).reshape(tensor["shape"])
        if not np.isfinite(values).all():
            raise _refuse(f"{path}: tensor {name!r} contains values that are not finite.")
        weights[name] = values.astype(np.float32)
    return weights


def read_checked(path: Path, sha256: str) -> bytes:
    """The whole file, whose hash is this. Raises ModelError."""
    content = read_bytes(path)
    _check_digest(path, content, sha256)
    return content


def read_arrays(path: Path, sha256: str) -> dict[str, Float32]:
    """The arrays of an npz file, float32, by name. Raises ModelError: missing, too large also once
    unpacked, another hash than stated, damaged, of another type than float32 (object arrays are
    pickles), or not finite."""
    content = read_bytes(path)
    _check_digest(path, content, sha256)
    arrays: dict[str, Float32] = {}
    try:
        with archives.archive(io.BytesIO(content)) as archive:
            archives.refuse_entries(archive)
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > LARGEST:
                raise _refuse(f"{path} unpacks to more than {LARGEST} bytes.")
            for entry in entries:
                name = entry.filename.removesuffix(".npy")
                with archives.member(archive, entry.filename) as stream:
                    arrays[name] = _array(f"{path}: array {name!r}", stream.read(LARGEST))
    except ValueError as error:
        raise _refuse(f"{path} is not a complete npz file: {error}.") from error
    return arrays


def _array(where: str, content: bytes) -> Float32:
    try:
        stored = outside.npy(content)
    except ValueError as error:
        raise _refuse(f"{where} is not a plain array: {error}.") from error
    if stored.dtype != np.dtype("<f4") or not stored.flags.c_contiguous:
        raise _refuse(f"{where} is {stored.dtype}; plain float32 in row order is expected.")
    values = stored.astype(np.float32)
    if not np.isfinite(values).all():
        raise _refuse(f"{where} contains values that are not finite.")
    return values


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError while `path` is written into a ModelError."""
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"{path} could not be written: {error.strerror}.",
            safe="What was there before was not changed.",
            todo="Free some space or choose another output folder, and start again. "
            "Training continues from its last checkpoint.",
        ) from error


def pack_weights(weights: Mapping[str, NDArray[np.floating]]) -> bytes:
    """A safetensors file, the same bytes for the same weights, each in its own type."""
    return safetensors.numpy.save({name: np.ascontiguousarray(w) for name, w in weights.items()})


def pack_arrays(arrays: dict[str, Float32]) -> bytes:
    """An npz file, compressed; the same bytes for the same arrays (numpy dates members 1980)."""
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **arrays)
    return stream.getvalue()
