"""The tensors of a TensorFlow.js package, read without trusting it.

`weights_manifest.json` lists groups. The shards of a group are one run of bytes, cut anywhere, in
which its tensors lie one behind the other, little-endian, in the order listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, TypeAdapter

from labapp.reading import files as reading
from labapp.representations.tfjs import document
from labapp.representations.tfjs.document import listed, refuse
from labapp.training import files

MANIFEST = "weights_manifest.json"

_DTYPES = {"float32": np.dtype("<f4"), "int32": np.dtype("<i4")}
_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")

Array = NDArray[np.float32] | NDArray[np.int32]
Side = Annotated[int, Field(ge=1, strict=True)]


class TensorEntry(BaseModel):
    """A tensor of a group."""

    name: str = Field(min_length=1, max_length=300)
    shape: list[Side] = Field(max_length=8)
    dtype: str
    quantization: dict[str, Any] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes in the shards; Python integers, so that no shape overflows."""
        size = _DTYPES[self.dtype].itemsize
        for side in self.shape:
            size *= side
        return size


class TensorGroup(BaseModel):
    """Tensors and the files that hold them."""

    paths: list[str] = Field(min_length=1, max_length=1000)
    weights: list[TensorEntry] = Field(max_length=10_000)


_GROUPS = TypeAdapter(Annotated[list[TensorGroup], Field(min_length=1, max_length=1000)])


@dataclass(frozen=True, slots=True)
class PublishedTensors:
    """Tensors by name, float32 or int32, and SHA-256 by name of the files they came from."""

    tensors: Mapping[str, Array]
    hashes: Mapping[str, str]


def read(folder: Path) -> PublishedTensors:
    """The tensors of the package whose manifest lies in `folder`.

    Raises
    ------
    ModelError : a file is missing, too large or leads out of the folder; a tensor is quantised or
        of a type that is not read; a group's bytes are fewer or more than its tensors need; a
        value is not finite.
    """
    path = folder / MANIFEST
    content = document.read(path)
    groups = document.parse(path, content, _GROUPS)
    _check(path, groups)
    hashes = {MANIFEST: files.digest(content)}
    tensors: dict[str, Array] = {}
    for number, group in enumerate(groups, start=1):
        run = _join(folder, number, group, hashes)
        at = 0
        for entry in group.weights:
            values = np.frombuffer(run[at : at + entry.nbytes], _DTYPES[entry.dtype])
            tensors[entry.name] = _finite(path, entry, values.reshape(entry.shape))
            at += entry.nbytes
    return PublishedTensors(tensors, hashes)


def _check(path: Path, groups: list[TensorGroup]) -> None:
    """Refuse what can be seen to be wrong before a shard is opened."""
    entries = [entry for group in groups for entry in group.weights]
    packed = [entry.name for entry in entries if entry.quantization is not None]
    if packed:
        raise refuse(
            f"{path}: quantised tensors are not read, found {listed(packed)}.",
            todo="Convert the model again without quantisation.",
        )
    foreign = [
        f"{entry.name} is {entry.dtype}, not {' or '.join(_DTYPES)}"
        for entry in entries
        if entry.dtype not in _DTYPES
    ]
    if foreign:
        raise refuse(f"{path}: {listed(foreign)}.")
    paths = [name for group in groups for name in group.paths]
    leading = [repr(name) for name in paths if not _FILE_NAME.fullmatch(name)]
    if leading:
        raise refuse(f"{path} names files that may lie outside its folder: {listed(leading)}.")
    for kind, names in (("file", paths), ("tensor", [entry.name for entry in entries])):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise refuse(f"{path} lists a {kind} twice: {listed(twice)}.")


def _join(folder: Path, number: int, group: TensorGroup, hashes: dict[str, str]) -> bytes:
    """The bytes of a group's shards, as many as its tensors need; their hashes are added."""
    shards = [folder / name for name in group.paths]
    missing = [shard.name for shard in shards if not reading.is_file(shard)]
    if missing:
        raise refuse(f"{folder} lacks {listed(missing)}.")
    needed = sum(entry.nbytes for entry in group.weights)
    total = sum(shard.stat().st_size for shard in shards)
    if needed != total:
        more = "more" if total > needed else "fewer"
        raise refuse(
            f"{folder}: the files of group {number} hold {total} bytes, {abs(total - needed)} "
            f"{more} than the {needed} of the tensors that {MANIFEST} lists."
        )
    if needed > files.LARGEST:
        raise refuse(f"{folder} holds {needed} bytes of weights; at most {files.LARGEST} are read.")
    contents = [files.read_bytes(shard) for shard in shards]
    hashes |= {
        shard.name: files.digest(content) for shard, content in zip(shards, contents, strict=True)
    }
    return b"".join(contents)


def _finite(path: Path, entry: TensorEntry, values: NDArray[Any]) -> Array:
    if not np.isfinite(values).all():
        raise refuse(f"{path.parent}: the tensor {entry.name} holds values that are not finite.")
    return values.astype(values.dtype.newbyteorder("="))
