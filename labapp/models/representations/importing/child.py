"""The process that first computes a file made by somebody else, within limits of memory and time.
Started by `labapp.models.representations.importing.convert`.

A TorchScript or torch.export file is converted to ONNX, and its outputs are reported. For an ONNX
graph, the process reports whether it answers at all. Messages are frames (8 bytes of length, then
as many bytes) over two pipes.

A TorchScript file is a program: one was seen to open a file on the disk while it was run. So it is
opened only once the process has given up its access to files and network: on Linux by Landlock and
seccomp, on macOS by sandbox-exec. Elsewhere such a file is refused.
"""

from __future__ import annotations

import ctypes
import errno
import io
import json
import os
import platform
import resource
import socket
import struct
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from labapp.models.representations.importing import memory
from labapp.models.representations.importing.memory import in_use

if TYPE_CHECKING:
    from onnxruntime import SessionOptions

MEMORY = 4 << 30
"""Bytes that opening, converting and computing may take."""
GRAPH_MEMORY, GRAPH_COPIES = 400 << 20, 6
"""Bytes that an ONNX graph may take besides its weights, and how often it may hold these."""
SECONDS = 20
"""That it may compute until its next answer: opening and converting, then each batch."""
LENGTH = struct.Struct("<Q")
BATCH = 16
"""Latents that are computed at once."""


def send(stream: IO[bytes], content: bytes) -> None:
    stream.write(LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes], largest: int = 1 << 32) -> bytes:
    """The next frame. Raises EOFError if the other side is gone, ValueError for a longer one."""
    (length,) = LENGTH.unpack(_exactly(stream, LENGTH.size))
    if length > largest:
        raise ValueError(f"a frame of {length} bytes")
    return _exactly(stream, length)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content


_ALLOWED = """
add sub rsub mul div neg abs exp exp2 expm1 log log1p log2 sqrt rsqrt pow square reciprocal clamp
clamp_min clamp_max sign floor ceil round trunc fmod remainder floor_divide floordiv maximum
minimum where sin cos tan asin acos atan atan2 sinh cosh tanh erf sigmoid relu relu6 leaky_relu
elu selu celu gelu silu mish hardtanh hardswish hardsigmoid softplus softsign log_sigmoid softmax
log_softmax prelu threshold glu matmul mm bmm addmm baddbmm mv dot linear einsum bilinear conv1d
conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution _convolution
conv_transpose2d_input batch_norm layer_norm group_norm instance_norm native_batch_norm
native_layer_norm native_group_norm _native_batch_norm_legit_no_training normalize max_pool1d
max_pool2d avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool2d
upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d
upsample_bicubic2d __interpolate interpolate pixel_shuffle pixel_unshuffle pad constant_pad_nd
reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d reshape reshape_as view
view_as _unsafe_view flatten unflatten squeeze unsqueeze permute transpose t numpy_T movedim
swapaxes contiguous expand expand_as repeat tile cat concat stack split split_with_sizes chunk
unbind slice select narrow index_select index gather embedding flip roll size sym_size dim len
numel zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full arange linspace
tensor scalar_tensor ScalarImplicit to type_as float double half int Int Float Bool IntImplicit
FloatImplicit _to_copy item is_floating_point mean sum prod amax amin max min var std norm cumsum
argmax argmin one_hot linalg_vector_norm eq ne lt gt le ge logical_and logical_or logical_not
__and__ __or__ __not__ __is__ __isnot__ __getitem__ __contains__ append list format dropout
feature_dropout alpha_dropout detach clone copy identity lift_fresh_copy fill masked_fill
broadcast_tensors meshgrid triu tril scaled_dot_product_attention multi_head_attention_forward
"""
ALLOWED = frozenset(_ALLOWED.split())
"""Operators of `aten` that compute and do nothing else; with _ at the end if they do it in
place."""
_ALLOWED_PRIMS = """
Constant If Loop ListConstruct TupleConstruct ListUnpack TupleUnpack DictConstruct GetAttr
RaiseException Uninitialized NumToTensor dtype device layout min max unchecked_cast CallMethod
CallFunction unchecked_unwrap_optional is_cuda Print shape
"""
ALLOWED_PRIMS = frozenset(_ALLOWED_PRIMS.split())
_DRAWS = """
rand randn rand_like randn_like randint normal bernoulli multinomial uniform poisson
"""
DRAWS = frozenset(_DRAWS.split())
"""Operators that draw: with them the same dials give another picture each time."""


def not_allowed(operators: set[str]) -> list[str]:
    """Those of the operators (`aten::relu`) that are not converted."""
    refused = []
    for operator in sorted(operators):
        room, _, name = operator.partition("::")
        name = name.removesuffix("_") if not name.endswith("__") else name
        known = ALLOWED if room == "aten" else ALLOWED_PRIMS if room == "prim" else frozenset()
        if name not in known:
            refused.append(operator)
    return refused


def draws(operators: list[str]) -> bool:
    return any(operator.partition("::")[2].rstrip("_") in DRAWS for operator in operators)


class _Script:
    """A TorchScript file."""

    def __init__(self, content: bytes) -> None:
        import torch

        self._module = torch.jit.load(io.BytesIO(content), map_location="cpu").eval()  # type: ignore[no-untyped-call]

    def operators(self) -> set[str]:
        return set(_kinds(self._module.inlined_graph)) - {"prim::GetAttr"}

    def onnx(self, latents: Any) -> bytes:
        import torch

        out = io.BytesIO()
        torch.onnx.export(
            self._module,
            (latents,),
            out,  # type: ignore[arg-type]
            dynamo=False,
            input_names=["latents"],
            output_names=["decoded"],
            dynamic_axes={"latents": {0: "n"}, "decoded": {0: "n"}},
            opset_version=17,
        )
        return out.getvalue()

    def __call__(self, latents: Any) -> Any:
        return self._module(latents)


def _kinds(graph: Any) -> Iterator[str]:
    for node in graph.nodes():
        yield node.kind()
        for block in node.blocks():
            yield from _kinds(block)


class _Exported:
    """A file of `torch.export`."""

    def __init__(self, content: bytes) -> None:
        import torch

        self._program = torch.export.load(io.BytesIO(content))

    def operators(self) -> set[str]:
        names = set()
        for module in self._program.graph_module.modules():
            graph = getattr(module, "graph", None)
            for node in () if graph is None else graph.nodes:
                if node.op == "call_function":
                    names.add(_operator(node.target))
        return names - {"python::getitem"}

    def onnx(self, latents: Any) -> bytes:
        import torch

        program = torch.onnx.export(
            self._program,
            (latents,),
            dynamo=True,
            verbose=False,
            input_names=["latents"],
            output_names=["decoded"],
        )
        assert program is not None
        return bytes(program.model_proto.SerializeToString())

    def __call__(self, latents: Any) -> Any:
        return self._program.module()(latents)


def _operator(target: Any) -> str:
    schema = getattr(target, "_schema", None)
    return schema.name if schema is not None else f"python::{getattr(target, '__name__', target)}"


FORMATS: dict[str, type[_Script | _Exported]] = {"torchscript": _Script, "torch-export": _Exported}


def _warm_up(kind: str) -> None:
    """Load by one conversion all that another will need: from inside nothing can be loaded."""
    import torch

    class Line(torch.nn.Module):
        def forward(self, z: Any) -> Any:
            return (z * 2.0).sigmoid().reshape(-1, 1, 1)

    example, file = torch.zeros(2, 1), io.BytesIO()
    if kind == "torchscript":
        torch.jit.save(torch.jit.trace(Line(), example), file)  # type: ignore[no-untyped-call]
    else:
        axis = torch.export.Dim("n")
        torch.export.save(
            torch.export.export(Line(), (example,), dynamic_shapes=({0: axis},)), file
        )
    opened = FORMATS[kind](file.getvalue())
    opened.operators()
    opened.onnx(example)
    opened(example)


def serve(incoming: IO[bytes], outgoing: IO[bytes]) -> None:
    """Serve one file of the kind that is asked for."""
    asked = json.loads(receive(incoming))
    if asked["format"] == "onnx":
        _serve_graph(asked, incoming, outgoing)
    else:
        _serve_program(asked, incoming, outgoing)


NOWHERE = str(Path(__file__) / "weights")
"""A folder that cannot be, for it would lie in a file."""


def session_options(threads: int) -> SessionOptions:
    """Of every session: what goes wrong is raised, and no other file is read."""
    import onnxruntime

    chosen = onnxruntime.SessionOptions()
    chosen.intra_op_num_threads = threads
    chosen.inter_op_num_threads = 1
    chosen.log_severity_level = 4
    # A thread that waits in a loop takes the time of the window that shows the picture.
    chosen.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Without it, weights that a graph keeps in another file are looked for where one stands.
    chosen.add_session_config_entry("session.model_external_initializers_file_folder_path", NOWHERE)
    return chosen


def _serve_graph(asked: dict[str, Any], incoming: IO[bytes], outgoing: IO[bytes]) -> None:
    """One ONNX graph: computes each row that it is given, and all of them together. What else is
    wrong with it than that it takes too much is found again, and told, by who asked."""
    import numpy as np
    import onnxruntime

    if sys.platform == "linux":
        memory.limit(asked["memory"])
    send(outgoing, json.dumps({"ready": True}).encode())
    content, rows = receive(incoming), receive(incoming)
    answer: dict[str, str] = {}
    memory.limit_seconds(asked["seconds"])
    try:
        session = onnxruntime.InferenceSession(
            content, session_options(1), providers=["CPUExecutionProvider"]
        )
        given = session.get_inputs()[0]
        latents = np.load(io.BytesIO(rows), allow_pickle=False)
        parts = [latents[at : at + 1] for at in range(len(latents))]
        for part in parts if given.shape[:1] == [1] else [*parts, latents]:
            session.run(None, {given.name: part})
            memory.limit_seconds(asked["seconds"])
            send(outgoing, json.dumps({"more": True}).encode())
    except Exception as error:  # noqa: BLE001 - onnxruntime raises kinds of its own
        if memory.is_too_much(error):
            answer["refused"] = "memory"
    send(outgoing, json.dumps(answer).encode())


def _serve_program(asked: dict[str, Any], incoming: IO[bytes], outgoing: IO[bytes]) -> None:
    """One file: told what it is, then its content, then the latents; answers with what was found,
    the graph, and the pictures of each batch of latents."""
    import numpy as np
    import torch

    def answer(**fields: Any) -> None:
        send(outgoing, json.dumps(fields).encode())

    torch.set_num_threads(1)
    _warm_up(asked["format"])
    if not asked["trusted"]:
        try:
            shut_in(memory=asked["memory"])
        except NoSandboxError as error:
            answer(refused="sandbox", why=str(error))
            return
    elif sys.platform == "linux":
        memory.limit(asked["memory"])
    answer(ready=True)
    content = receive(incoming)
    latents = torch.from_numpy(np.load(io.BytesIO(receive(incoming)), allow_pickle=False))
    memory.limit_seconds(asked["seconds"])
    try:
        opened = FORMATS[asked["format"]](content)
    except Exception as error:  # noqa: BLE001 - of a file of any kind
        answer(refused=memory.fault(error, "open"), why=_short(error, whole=True))
        return
    operators = opened.operators()
    if refused := not_allowed(operators):
        answer(refused="operators", operators=refused, draws=draws(refused))
        return
    try:
        with torch.no_grad():
            graph = opened.onnx(latents[:2])
    except Exception as error:  # noqa: BLE001 - of a file of any kind
        step, why = "convert", error
        try:  # does it itself fail on what it is given?
            with torch.no_grad():
                opened(latents[:2])
        except Exception as fault:  # noqa: BLE001 - of a file of any kind
            step, why = "run", fault
        answer(refused=memory.fault(why, step), why=_short(why))
        return
    answer(operators=sorted(operators), torch=torch.__version__)
    send(outgoing, graph)
    with torch.no_grad():
        for start in range(0, len(latents), BATCH):
            try:
                decoded = opened(latents[start : start + BATCH])
                made = decoded.detach().to(torch.float32).contiguous().numpy()
            except Exception as error:  # noqa: BLE001 - of a file of any kind
                answer(refused=memory.fault(error, "run"), why=_short(error))
                return
            memory.limit_seconds(asked["seconds"])
            file = io.BytesIO()
            np.save(file, made, allow_pickle=False)
            answer(batch=start)
            send(outgoing, file.getvalue())


def _short(error: BaseException, *, whole: bool = False) -> str:
    """What is wrong, unless `whole` without TorchScript's own traceback before it."""
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    if not whole and any("Traceback of TorchScript" in line for line in lines):
        lines = lines[-1:]
    text = " ".join(" ".join(lines).split())
    return text if len(text) <= 400 else f"{text[:397]}…"


_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP: Final = 22
_SECCOMP_MODE_FILTER: Final = 2
_LANDLOCK_CREATE_RULESET: Final = 444
_LANDLOCK_RESTRICT_SELF: Final = 446
_EVERY_FILE_RIGHT: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""By version of Landlock how many rights on files it knows; later versions know those of 5."""
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6
# Classic BPF, as seccomp takes it.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
"""Where a filter finds the number of a call and the processor's name."""
_KILL, _DENY, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_ARGUMENT = 16
"""Where it finds the lower half of the first argument of a call."""
_X32: Final = 0x40000000
"""From here on calls of x86-64 are those of another set with the same effects."""
_FORBIDDEN = {
    "x86_64": (
        0xC000003E,
        (56, 435),
        # open, creat, openat, openat2, open_by_handle_at, name_to_handle_at
        (2, 85, 257, 437, 304, 303),
        # socket, connect, accept, sendto, sendmsg, bind, listen, socketpair, accept4, sendmmsg
        (41, 42, 43, 44, 46, 49, 50, 53, 288, 307),
        # execve, execveat, fork, vfork, ptrace, kill, tkill, tgkill, pidfd_send_signal,
        # rt_sigqueueinfo, rt_tgsigqueueinfo
        (59, 322, 57, 58, 101, 62, 200, 234, 424, 129, 297),
        # rename, mkdir, rmdir, link, unlink, symlink, chmod, chown, truncate, and those with `at`
        (82, 83, 84, 86, 87, 88, 90, 92, 76, 258, 260, 263, 264, 265, 266, 268, 316),
        # Which Landlock knows nothing of: lchown, utime, utimes, futimesat, utimensat, setxattr,
        # lsetxattr, removexattr, lremovexattr, fchmodat2, setxattrat, removexattrat, file_setattr
        (94, 132, 235, 261, 280, 188, 189, 197, 198, 452, 463, 466, 469),
        # mount, umount2, pivot_root, chroot, bpf, io_uring_*, process_vm_*, pidfd_getfd, mknod(at),
        # unshare, setns, acct, swapon, swapoff, open_tree, move_mount, fsopen, fsconfig, fsmount,
        # fspick, mount_setattr
        (165, 166, 155, 161, 321, 425, 426, 427, 310, 311, 438, 133, 259),
        (272, 308, 163, 167, 168, 428, 429, 430, 431, 432, 433, 442),
        # memfd_create, shmget, msgget, perf_event_open, userfaultfd, keyctl, add_key, request_key,
        # semget, mq_open, mq_unlink
        (319, 29, 68, 298, 323, 250, 248, 249, 64, 240, 241),
    ),
    "aarch64": (
        0xC00000B7,
        (220, 435),
        (56, 437, 265, 264),
        (198, 203, 202, 206, 211, 200, 201, 199, 242, 269),
        (221, 281, 117, 129, 130, 131, 424, 138, 240),
        (38, 34, 35, 37, 36, 53, 54, 45, 276),
        (88, 5, 6, 14, 15, 452, 463, 466, 469),
        (40, 39, 41, 51, 280, 425, 426, 427, 270, 271, 438, 33),
        (97, 268, 89, 224, 225, 428, 429, 430, 431, 432, 433, 442),
        (279, 194, 186, 241, 282, 219, 217, 218, 190, 180, 181),
    ),
}
"""By processor its name to the kernel, the numbers of clone and clone3, and those of the calls that
are refused."""
_CLONE_THREAD: Final = 0x10000


class NoSandboxError(Exception):
    """This machine cannot shut a process in; the text says why."""


def shut_in(*, memory: int) -> None:
    """Give away, for this process and for ever, the rights to open files and to reach a network.

    Everything that will be needed must be loaded before. Raises NoSandboxError; then nothing is to
    be opened.

    Parameters
    ----------
    memory : bytes of address space beyond what is in use.
    """
    if platform.system() == "Darwin":
        _check()  # it began inside, see `command`
        return
    if platform.system() != "Linux":
        raise NoSandboxError(f"there is none for {platform.system() or 'this system'}")
    known = _FORBIDDEN.get(platform.machine())
    if known is None or struct.calcsize("P") != 8:
        raise NoSandboxError(f"there is none for {platform.machine()} processors")
    most = in_use() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise NoSandboxError(f"privileges cannot be dropped ({os.strerror(ctypes.get_errno())})")
    _landlock(libc)
    _seccomp(libc, known[0], known[1], [number for group in known[2:] for number in group])
    _check()


def command(program: Sequence[str]) -> list[str]:
    """The command line by which a program that shuts itself in is started. On macOS it begins
    inside: without a network, without writing, and of the user's files with Python's alone."""
    if platform.system() != "Darwin":
        return list(program)
    own = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[4]))
    readable = " ".join(f'(subpath "{folder}")' for folder in own)
    profile = (
        "(version 1)(allow default)(deny network*)(deny file-write*)"
        f'(deny file-read-data (subpath "{Path.home()}") (subpath "/Volumes") '
        f'(literal "/etc/hosts") (literal "/private/etc/hosts"))(allow file-read-data {readable})'
    )
    return ["/usr/bin/sandbox-exec", "-p", profile, *program]


def _check() -> None:
    """Raises NoSandboxError if a file can be opened or a socket made all the same."""

    def open_file() -> None:
        os.close(os.open("/etc/hosts", os.O_RDONLY))

    def connect() -> None:
        socket.create_connection(("127.0.0.1", 9), 1.0).close()

    for what, attempt in (("a file", open_file), ("a connection", connect)):
        try:
            attempt()
        except PermissionError:
            continue
        except OSError as error:
            raise NoSandboxError(
                f"{what} should be refused, but fails differently ({error})"
            ) from error
        raise NoSandboxError(f"{what} can be opened from inside it")


def _landlock(libc: ctypes.CDLL) -> None:
    """Take every right on files; if the kernel lacks Landlock, seccomp refuses to open any."""
    version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return
    files = (1 << _EVERY_FILE_RIGHT.get(version, 16)) - 1
    network = 0b11 if version >= _NETWORK_SINCE else 0
    scopes = 0b11 if version >= _SCOPES_SINCE else 0
    attributes = struct.pack("=QQQ", files, network, scopes)
    size = 24 if version >= _SCOPES_SINCE else 16 if version >= _NETWORK_SINCE else 8
    rules = libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, size, 0)
    if rules < 0 or libc.syscall(_LANDLOCK_RESTRICT_SELF, rules, 0) != 0:
        raise NoSandboxError(f"Landlock refuses ({os.strerror(ctypes.get_errno())})")
    os.close(rules)


def _seccomp(
    libc: ctypes.CDLL, architecture: int, clones: tuple[int, ...], forbidden: list[int]
) -> None:
    """Refuse the forbidden calls and new processes, and end this one at a call of another kind of
    processor. Threads may be made: clone with its mark, while of clone3, whose arguments no filter
    sees, it is said that there is none."""
    clone, clone3 = clones
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _DENY | errno.EPERM),
    ]
    code += [(_EQUAL, 0, 1, clone3), (_RETURN, 0, 0, _DENY | errno.ENOSYS)]
    code += [
        (_EQUAL, 0, 4, clone),
        (_LOAD, 0, 0, _ARGUMENT),
        (_ANY_BIT, 1, 0, _CLONE_THREAD),
        (_RETURN, 0, 0, _DENY | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    for number in forbidden:
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _DENY | errno.EPERM)]
    code.append((_RETURN, 0, 0, _ALLOW))
    packed = b"".join(struct.pack("=HBBI", *row) for row in code)
    filters = ctypes.create_string_buffer(packed, len(packed))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filters", ctypes.c_void_p))

    program = Program(len(code), ctypes.addressof(filters))
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise NoSandboxError(f"seccomp refuses ({os.strerror(ctypes.get_errno())})")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    # What torch prints must not come between the frames.
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, frames)
