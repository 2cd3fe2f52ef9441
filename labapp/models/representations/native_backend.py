"""Trained decoders on the CPU without importing torch, for windows that show recorded pictures.

The layers of fast decoders, computed by torch's library without torch's Python.

Importing torch takes a second and 195 MiB, of which its library of kernels is half: what only shows
recorded pictures loads that library alone. It is called by the C interface that torch keeps stable
for compiled models (torch/csrc/inductor/aoti_torch/c/shim.h), with the same kernels on the same
numbers as in `torch_kernels`, and so comes to the same bits (tests/models/representations).

Where the library of the torch that is installed has not all that is called here, or a processor
cannot do it, `library` or a kernel raises `NotNative`, and torch is imported after all.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_uint64, c_void_p
from functools import lru_cache
from importlib import util
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.models.representations import fast_decode, folding
from labapp.models.representations.decoders import Forward
from labapp.models.representations.folding import Layer
from labapp.models.representations.recipe import Architecture, TrainedNetwork

Float32 = NDArray[np.float32]


def build(
    architecture: Architecture,
    width: int,
    weights: Mapping[str, Float32],
    *,
    threads: int,
    exact: bool = False,
) -> Forward | None:
    """As `torch_backend.build` on the CPU, to the same bits.

    None where it cannot be done without torch: of a network that does not say what it is made of,
    or with a library or a processor that lacks a part of what is called.

    Raises ModelError as `torch_backend.build` does.
    """
    source = architecture.source
    if not isinstance(source, TrainedNetwork) or source.parts is None:
        return None
    parts = source.parts(width)
    fast_decode.check_weights(architecture, folding.shapes(parts), weights)
    layers = folding.fold(folding.named(parts), weights)
    if layers is None:
        return None
    sigmoid = source.likelihood == "bernoulli"
    shape = architecture.output_shape
    try:
        torch = library()
        torch.set_threads(threads)
        with torch.quiet():
            steps, how = fast_decode.steps(
                layers, NativeKernels(torch), sigmoid=sigmoid, exact=exact
            )

            def compute(z: Float32) -> Float32:
                if not len(z):
                    return np.empty((0, *shape), np.float32)
                x = torch.tensor(np.ascontiguousarray(z))
                for step in steps:
                    x = step(x)
                return x.values.reshape(-1, *shape).copy()

            return fast_decode.tried(architecture, width, Forward(compute, how))
    except NotNative:
        return None


_NAMES = {"darwin": "lib{}.dylib", "win32": "{}.dll"}
_HANDLE, _SIZES = c_void_p, POINTER(c_int64)
_LIST = (_SIZES, c_int64)
_FUNCTIONS: dict[str, Sequence[object]] = {
    "aoti_torch_get_dim": (_HANDLE, POINTER(c_int64)),
    "aoti_torch_get_sizes": (_HANDLE, POINTER(_SIZES)),
    "aoti_torch_get_strides": (_HANDLE, POINTER(_SIZES)),
    "aoti_torch_get_data_ptr": (_HANDLE, POINTER(c_void_p)),
    "aoti_torch_delete_tensor_object": (_HANDLE,),
    "aoti_torch_new_tensor_handle": (_HANDLE, POINTER(_HANDLE)),
    "aoti_torch_create_tensor_from_blob": (
        *(c_void_p, c_int64, _SIZES, _SIZES, c_int64),
        *(c_int32, c_int32, c_int32, POINTER(_HANDLE)),
    ),
    "aoti_torch_call_dispatcher": (c_char_p, c_char_p, POINTER(c_uint64)),
    "aoti_torch_cpu_addmm_out": (_HANDLE, _HANDLE, _HANDLE, _HANDLE, c_double, c_double),
    "aoti_torch_cpu_bmm_out": (_HANDLE, _HANDLE, _HANDLE),
    "aoti_torch_cpu_convolution": (
        *(_HANDLE, _HANDLE, POINTER(_HANDLE), *_LIST, *_LIST, *_LIST, c_int32),
        *(*_LIST, c_int64, POINTER(_HANDLE)),
    ),
    "aoti_torch_cpu_wrapped_fbgemm_pack_gemm_matrix_fp16": (_HANDLE, POINTER(_HANDLE)),
    "aoti_torch_cpu_wrapped_fbgemm_linear_fp16_weight": (
        *(_HANDLE, _HANDLE, _HANDLE, c_int64, POINTER(_HANDLE)),
    ),
}
"""What is called, with the types of its arguments; each returns 0, or another number if it fails.
New tensors are returned in the last one."""

_SET_THREADS = "_ZN2at15set_num_threadsEi"
"""at::set_num_threads(int), which the C interface has not."""
_LEVEL, _ERRORS = "FLAGS_caffe2_log_level", 2
"""From which level on the library writes to the terminal. It warns that reading float16 weights
will be taken out of later versions; `library` then says so by its error."""


class NotNative(Exception):
    """The library cannot do this here."""


class Library:
    """torch's kernels."""

    def __init__(self, folder: Path) -> None:
        name = _NAMES.get(sys.platform, "lib{}.so")
        self._base = ctypes.CDLL(str(folder / name.format("c10")))
        self._torch = ctypes.CDLL(str(folder / name.format("torch_cpu")))
        for function, types in _FUNCTIONS.items():
            getattr(self._torch, function).argtypes = types
        getattr(self._torch, _SET_THREADS).argtypes = (c_int,)
        self._level = c_int.in_dll(self._base, _LEVEL)
        self.float32 = self._torch.aoti_torch_dtype_float32()
        self.cpu = self._torch.aoti_torch_device_type_cpu()

    def __call__(self, function: str, *arguments: object) -> None:
        """Call a function. Raises NotNative where it fails."""
        if getattr(self._torch, function)(*arguments):
            raise NotNative(f"{function} failed")

    def made(self, function: str, *arguments: object) -> Tensor:
        """The tensor that a function makes. Raises NotNative."""
        handle = _HANDLE()
        self(function, *arguments, byref(handle))
        return Tensor(self, handle)

    def tensor(self, values: Float32, owner: Tensor | None = None) -> Tensor:
        """An array's memory as a tensor, not copied; owner: the tensor whose memory it is."""
        handle = _HANDLE()
        strides = [step // values.itemsize for step in values.strides]
        sizes = _numbers(values.shape), _numbers(strides)
        place = (0, self.float32, self.cpu, 0)
        memory = values.ctypes.data, values.ndim
        self("aoti_torch_create_tensor_from_blob", *memory, *sizes, *place, byref(handle))
        return Tensor(self, handle, values, owner)

    def set_threads(self, threads: int) -> None:
        """Compute on so many threads, in the whole process."""
        getattr(self._torch, _SET_THREADS)(threads)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Write no warnings meanwhile."""
        level, self._level.value = self._level.value, _ERRORS
        try:
            yield
        finally:
            self._level.value = level


@lru_cache(maxsize=1)
def library() -> Library:
    """The library of the torch that is installed. Raises NotNative."""
    spec = util.find_spec("torch")
    try:
        for folder in (spec and spec.submodule_search_locations) or ():
            return Library(Path(folder) / "lib")
    except (OSError, AttributeError, ValueError) as error:
        raise NotNative(str(error)) from error
    raise NotNative("torch is not installed")


class Tensor:
    """A tensor of float32 on the processor, let go with this object.

    Attributes
    ----------
    handle : what the library knows it by.
    values : its memory, as long as this object is there.
    """

    def __init__(
        self,
        library: Library,
        handle: c_void_p,
        values: Float32 | None = None,
        owner: Tensor | None = None,
    ) -> None:
        self._library, self.handle = library, handle
        self._values, self._owner = values, owner

    @property
    def values(self) -> Float32:
        if self._values is None:
            count, data = c_int64(), c_void_p()
            sizes, strides = _SIZES(), _SIZES()
            self._library("aoti_torch_get_dim", self.handle, byref(count))
            self._library("aoti_torch_get_sizes", self.handle, byref(sizes))
            self._library("aoti_torch_get_strides", self.handle, byref(strides))
            self._library("aoti_torch_get_data_ptr", self.handle, byref(data))
            shape, steps = sizes[: count.value], strides[: count.value]
            length = 1 + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
            flat = np.ctypeslib.as_array((ctypes.c_float * length).from_address(data.value or 0))
            self._values = np.lib.stride_tricks.as_strided(
                flat, shape, [4 * step for step in steps]
            )
        return self._values

    def __del__(self) -> None:
        if self.handle:
            self._library("aoti_torch_delete_tensor_object", self.handle)


Step = Callable[[Tensor], Tensor]


class NativeKernels:
    """See `fast_decode.Kernels`. No step keeps a `Layer`, whose weights are larger than what is
    computed with."""

    has_half = True
    """`half_dense` raises NotNative where it is not so."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def dense(self, layer: Layer) -> Step:
        call, tensor = self._library, self._library.tensor
        ordered = layer.channels_last()
        weight, shift = tensor(_plain(ordered.scaled()).T), tensor(_plain(ordered.shift))
        out, slope, shape = len(ordered.shift), layer.slope, layer.unfold

        def step(x: Tensor) -> Tensor:
            y = tensor(np.empty((len(x.values), out), np.float32))
            handles = (y.handle, shift.handle, x.handle, weight.handle)
            call("aoti_torch_cpu_addmm_out", *handles, 1.0, 1.0)
            return self._unfolded(_activated(y, slope), shape)

        return step

    def half_dense(self, layer: Layer) -> Step:
        made, tensor = self._library.made, self._library.tensor
        ordered = layer.channels_last()
        weight = tensor(_plain(ordered.weight))
        packed = made("aoti_torch_cpu_wrapped_fbgemm_pack_gemm_matrix_fp16", weight.handle)
        shift = _plain(ordered.shift)
        scale = np.float32(1.0) if ordered.scale is None else _plain(ordered.scale)
        out, slope, shape = len(shift), layer.slope, layer.unfold
        zeros = tensor(np.zeros_like(shift))
        multiply = "aoti_torch_cpu_wrapped_fbgemm_linear_fp16_weight"

        def step(x: Tensor) -> Tensor:
            y = made(multiply, x.handle, packed.handle, zeros.handle, out)
            values = y.values
            values *= scale
            values += shift
            return self._unfolded(_activated(y, slope), shape)

        return step

    def deconvolution(self, layer: Layer) -> Step:
        made, tensor = self._library.made, self._library.tensor
        # Its weights channels last.
        kernel = _plain(layer.scaled().transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        weight, shift = tensor(kernel), tensor(_plain(layer.shift))
        strides, paddings, ones, zeros = (
            _numbers([number, number]) for number in (layer.stride, layer.padding, 1, 0)
        )
        slope = layer.slope

        def step(x: Tensor) -> Tensor:
            y = made(
                "aoti_torch_cpu_convolution",
                *(x.handle, weight.handle, byref(shift.handle)),
                *(strides, 2, paddings, 2, ones, 2, True, zeros, 2, 1),
            )
            return _activated(y, slope)

        return step

    def overlap_add(self, layer: Layer) -> Step:
        call, tensor = self._library, self._library.tensor
        channels, _, size, _ = layer.weight.shape
        blocks = np.ascontiguousarray(layer.scaled().reshape(channels, size * size).T)
        shift, slope = np.float32(layer.shift[0]), layer.slope
        stride, padding = layer.stride, layer.padding

        def step(x: Tensor) -> Tensor:
            count, _, height, width = x.values.shape
            columns = tensor(np.empty((count, size * size, height * width), np.float32))
            pixels = tensor(x.values.reshape(count, channels, -1))
            each = tensor(np.broadcast_to(blocks, (count, *blocks.shape)))
            call("aoti_torch_cpu_bmm_out", columns.handle, each.handle, pixels.handle)
            added = _overlapped(
                columns.values.reshape(count, size, size, height, width), stride, padding
            )
            return _activated(tensor(added + shift), slope)

        return step

    def sigmoid(self, x: Tensor) -> Tensor:
        given = self._library.made("aoti_torch_new_tensor_handle", x.handle)
        stack = (c_uint64 * 1)(given.handle.value or 0)
        given.handle = _HANDLE()  # the library takes what lies on the stack, and lays its own there
        self._library("aoti_torch_call_dispatcher", b"aten::sigmoid", b"", stack)
        return Tensor(self._library, _HANDLE(stack[0]))

    def _unfolded(self, y: Tensor, shape: tuple[int, int, int] | None) -> Tensor:
        """Output in (height, width, channels) order as a picture (n, channels, height, width)."""
        if shape is None:
            return y
        channels, height, width = shape
        pictures = y.values.reshape(-1, height, width, channels).transpose(0, 3, 1, 2)
        return self._library.tensor(pictures, y)


def _plain(values: NDArray[np.floating]) -> Float32:
    return np.ascontiguousarray(values, np.float32)


def _numbers(values: Sequence[int]) -> ctypes.Array[c_int64]:
    return (c_int64 * len(values))(*values)


def _activated(y: Tensor, slope: float | None) -> Tensor:
    values = y.values
    if slope == 0:
        np.maximum(values, 0, out=values)
    elif slope is not None:
        np.multiply(values, np.float32(slope), out=values, where=values <= 0)
    return y


def _overlapped(blocks: Float32, stride: int, padding: int) -> Float32:
    """Blocks (n, size, size, height, width) of each pixel added where they overlap, in torch's
    order: pictures (n, 1, rows, columns)."""
    count, size, _, height, width = blocks.shape
    rows, columns = ((n - 1) * stride + size for n in (height, width))
    added = np.zeros((count, 1, rows, columns), np.float32)
    last_row, last_column = (height - 1) * stride + 1, (width - 1) * stride + 1
    for row in range(size):
        for column in range(size):
            part = added[
                :, 0, row : row + last_row : stride, column : column + last_column : stride
            ]
            part += blocks[:, row, column]
    return added[:, :, padding : rows - padding, padding : columns - padding]
