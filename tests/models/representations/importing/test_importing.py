"""Decoders of others: imported whole, the same in every format, refused with all that is wrong."""

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labapp.base.errors import ModelError
from labapp.models.representations import card as cards
from labapp.models.representations.importing import child, convert, graph
from labapp.models.representations.importing.importing import import_decoder
from tests.helpers.sample import sample

Module = torch.nn.Module
RNG = np.random.default_rng(3)


class Linear(Module):
    """Eight by eight grey pixels of three latents, as a PCA gives them."""

    def __init__(self) -> None:
        super().__init__()
        self.line = torch.nn.Linear(3, 64)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.line(z)).reshape(-1, 8, 8)


class Colour(Module):
    """Colours first, as torch has them."""

    def __init__(self) -> None:
        super().__init__()
        self.line = torch.nn.Linear(3, 8 * 4 * 5)
        self.up = torch.nn.ConvTranspose2d(8, 3, 4, 2, 1)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.up(torch.relu(self.line(z)).view(-1, 8, 4, 5)))


class Opens(Module):
    """Reads a file of the disk while it is run."""

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return torch.from_file("/etc/hostname", size=4, dtype=torch.uint8).float() + z.sum()


class Draws(Module):
    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return torch.rand(2, 2) + z.sum()


class Does(Module):
    def __init__(self, what: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.what = what

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.what(z)


@pytest.fixture(autouse=True)
def _own_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "models"))


def save(path: Path, module: Module, *, n: bool = True, inputs: int = 3) -> Path:
    """As the format that the file's name says."""
    torch.manual_seed(1)
    example = torch.zeros(2, inputs)
    module = module.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if path.suffix == ".onnx":
            axes = {"z": {0: "n"}, "x": {0: "n"}} if n else {}
            torch.onnx.export(
                module,
                (example,),
                path,
                dynamo=False,
                input_names=["z"],
                output_names=["x"],
                dynamic_axes=axes,
            )
        elif path.suffix == ".pt2":
            axis = torch.export.Dim("n")
            program = torch.export.export(module, (example,), dynamic_shapes=({0: axis},))
            torch.export.save(program, path)
        elif isinstance(module, Opens | Draws):
            torch.jit.save(torch.jit.script(module), path)
        else:
            torch.jit.save(torch.jit.trace(module, example), path)
    return path


def latents(tmp_path: Path, columns: int = 3, rows: int = 40) -> Path:
    path = tmp_path / "z.npy"
    np.save(path, RNG.normal(size=(rows, columns)).astype(np.float32))
    return path


def refusal(path: Path, tmp_path: Path, **more: object) -> str:
    kind = {".onnx": "onnx", ".pt": "torchscript", ".pt2": "torch-export"}[path.suffix]
    with pytest.raises(ModelError) as refused:
        import_decoder(path, kind, latents(tmp_path), "own/one", **more)  # type: ignore[arg-type]
    assert not (tmp_path / "models").exists()
    return str(refused.value)


@pytest.mark.parametrize("module", [Linear, Colour])
def test_every_format_gives_the_same_pictures(tmp_path: Path, module: type[Module]) -> None:
    torch.manual_seed(0)
    decoder = module().eval()
    z = latents(tmp_path)
    made = []
    formats = {"onnx": ".onnx", "torchscript": ".pt"}
    for kind in sample(tuple(formats), ("torchscript",)):
        ending = formats[kind]
        path = save(tmp_path / f"decoder{ending}", decoder)
        package = import_decoder(path, kind, z, f"own/{kind}")  # type: ignore[arg-type]
        content = (package.folder / "decoder.onnx").read_bytes()
        made.append(graph.Runner(path, content)(np.load(z)))
        card = cards.read(package.folder)
        assert card.shape == made[-1].shape[1:]
        assert card.origin is not None
        assert card.origin.format == kind
        tried = card.origin.tried
        assert tried is not None
        assert tried.decode_ms_median <= tried.decode_ms_95
        assert tried.remarks == list(package.notes)
        converted = kind == "torchscript"
        assert (tried.largest_difference is not None) == converted
        assert tried.largest_difference is None or tried.largest_difference < 1e-5
        assert card.task is not None
        assert card.task.distance.startswith("mse/")
        assert len(card.dimensions) == 3
    with torch.no_grad():
        own = decoder(torch.from_numpy(np.load(z))).numpy()
    if own.ndim == 4:
        own = np.moveaxis(own, 1, -1)
    for pictures in made:
        np.testing.assert_allclose(pictures, own, rtol=0, atol=1e-6)


def test_a_file_of_torch_export_is_converted(tmp_path: Path) -> None:
    path = save(tmp_path / "decoder.pt2", Linear())
    package = import_decoder(path, "torch-export", latents(tmp_path), "own/one")
    assert package.card.shape == (8, 8)
    assert any("Decoding a picture takes" in note for note in package.notes)


def test_a_program_that_opens_files_is_not_run(tmp_path: Path) -> None:
    text = refusal(save(tmp_path / "decoder.pt", Opens()), tmp_path)
    assert "aten::from_file" in text
    assert "without access to files or the network" in text


class OpensWhenLoaded(Module):
    """Writes to a file of the disk while it is loaded, before its operators can be looked at."""

    w: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.w = torch.zeros(3, 4)
        self.training = False

    @torch.jit.export
    def __getstate__(self) -> tuple[torch.Tensor, bool]:
        return self.w, self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[torch.Tensor, bool]) -> None:
        self.training = state[1]
        mapped = torch.from_file("secret", True, 8, dtype=torch.uint8)
        self.w = state[0] + float(mapped.fill_(65).sum())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(z @ self.w).reshape(-1, 2, 2)


def test_a_program_that_opens_files_while_it_is_loaded_reaches_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "secret"
    secret.write_bytes(b"untouched")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(OpensWhenLoaded()), tmp_path / "decoder.pt")
    assert "from_file" in refusal(tmp_path / "decoder.pt", tmp_path)
    assert secret.read_bytes() == b"untouched"
    # Where it is let it does write, so that what is said above can fail.
    import_decoder(
        tmp_path / "decoder.pt", "torchscript", tmp_path / "z.npy", "own/two", trusted=True
    )
    assert secret.read_bytes() == b"A" * 8 + b"d"


def test_trust_is_not_called_shut_in(tmp_path: Path) -> None:
    text = refusal(save(tmp_path / "decoder.pt", Opens()), tmp_path, trusted=True)
    assert "could read and write files" in text
    assert "without files" not in text


def test_modules_in_the_folder_one_works_in_are_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    path = save(tmp_path / "decoder.pt", Linear())
    made = import_decoder(path, "torchscript", latents(tmp_path), "own/one")
    assert any("differs from decoder.pt by at most" in note for note in made.notes)


def test_what_draws_is_refused(tmp_path: Path) -> None:
    text = refusal(save(tmp_path / "decoder.pt", Draws()), tmp_path)
    assert "aten::rand" in text
    assert "a different result each time" in text


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda z: torch.log(z[:, :1]).expand(-1, 4).reshape(-1, 2, 2), "give NaN or infinity"),
        (lambda z: (z[:, :1] * 9).expand(-1, 4).reshape(-1, 2, 2), "beyond 0 to 1 (from -"),
        (
            lambda z: torch.sigmoid(z[:, :1].expand(-1, 8)).reshape(-1, 2, 2, 2),
            "is not a series, or a grey",
        ),
        (lambda z: torch.sigmoid(z.mean(0, keepdim=True)[:, None]), "its own picture"),
        (lambda z: torch.sigmoid(z - z.mean(0)).reshape(-1, 1, 3), "depends on the others"),
        (lambda z: torch.sigmoid(z).double().reshape(-1, 1, 3), "float64, not 32-bit"),
    ],
)
def test_faults_are_told_with_numbers(
    tmp_path: Path, make: Callable[[torch.Tensor], torch.Tensor], says: str
) -> None:
    assert says in refusal(save(tmp_path / "decoder.onnx", Does(make)), tmp_path)


def test_a_fixed_number_and_other_widths_are_told(tmp_path: Path) -> None:
    fixed = save(tmp_path / "fixed.onnx", Linear(), n=False)
    assert "it accepts exactly 2 rows at once" in refusal(fixed, tmp_path)
    wide = save(tmp_path / "wide.onnx", torch.nn.Sequential(torch.nn.Linear(4, 9)), inputs=4)
    assert "it takes 4 numbers per picture" in refusal(wide, tmp_path)


@pytest.mark.parametrize(
    ("ending", "content"),
    [
        (".onnx", b""),
        (".onnx", b"\x80\x04pickle"),
        (".onnx", bytes(range(256))),
        (".pt", b"PK\x03\x04"),
    ],
)
def test_what_is_no_decoder_is_told(tmp_path: Path, ending: str, content: bytes) -> None:
    path = tmp_path / f"decoder{ending}"
    path.write_bytes(content)
    assert "not an ONNX file" in (text := refusal(path, tmp_path)) or "no TorchScript file" in text


def test_foreign_operators_and_files_beside_it_are_named(tmp_path: Path) -> None:
    import onnx

    path = save(tmp_path / "decoder.onnx", Linear())
    model = onnx.load(path)
    model.graph.node[0].domain = "com.acme"
    model.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL
    model.graph.node.append(onnx.helper.make_node("RandomNormal", [], ["noise"], shape=[1]))
    path.write_bytes(model.SerializeToString())
    text = refusal(path, tmp_path)
    assert "com.acme::" in text
    assert "are in other files" in text
    assert "draws at random (RandomNormal)" in text


def test_faults_of_latents_are_told_all_at_once(tmp_path: Path) -> None:
    path = save(tmp_path / "decoder.onnx", Linear())
    values = RNG.normal(size=(10, 3))
    values[2, 1] = np.nan
    np.save(tmp_path / "broken.npy", values)
    with pytest.raises(ModelError) as refused:
        import_decoder(path, "onnx", tmp_path / "broken.npy", "own/one")
    assert "at least 20" in str(refused.value)
    assert "1 of its 10 rows contain NaN or infinity (in column 2)" in str(refused.value)
    values = np.ones((30, 3))
    values[:, 0] = np.arange(30)
    np.save(tmp_path / "still.npy", values)
    with pytest.raises(ModelError, match="column 2 has only one value") as refused:
        import_decoder(path, "onnx", tmp_path / "still.npy", "own/one")
    assert "column 3" in str(refused.value)


def test_limits_name_dials_and_choices(tmp_path: Path) -> None:
    rows = np.column_stack([np.arange(40) % 3, RNG.normal(size=40), RNG.normal(size=40)])
    np.save(tmp_path / "z.npy", rows.astype(np.float32))
    (tmp_path / "limits.yaml").write_text(
        "dials:\n"
        "- {type: discrete, name: kind, k: 3}\n"
        "- {type: continuous, name: size, low: -1.5, high: 1.5, step: 0.1}\n"
        "- {type: continuous, name: idle, low: -5, high: 5, step: 0.1}\n"
    )
    one_hot = torch.nn.Linear(5, 4)
    with torch.no_grad():
        one_hot.weight[:, 4] = 0
    path = save(
        tmp_path / "decoder.onnx",
        torch.nn.Sequential(one_hot, torch.nn.Sigmoid(), torch.nn.Unflatten(1, (2, 2))),
        inputs=5,
    )
    made = import_decoder(
        path, "onnx", tmp_path / "z.npy", "own/one", limits=tmp_path / "limits.yaml"
    )
    assert [dial.name for dial in made.card.dimensions] == ["kind", "size", "idle"]
    assert any("Moving idle changes nothing" in note for note in made.notes)
    dropped = int((np.abs(rows[:, 1]) > 1.5).sum())
    assert any(f"{dropped} of the latents are outside the limits" in note for note in made.notes)


def test_frames_go_there_and_back() -> None:
    stream = io.BytesIO()
    child.send(stream, b"abc")
    child.send(stream, b"")
    stream.seek(0)
    assert (child.receive(stream), child.receive(stream)) == (b"abc", b"")
    with pytest.raises(EOFError):
        child.receive(stream)
    stream.seek(0)
    with pytest.raises(ValueError, match="a frame of 3 bytes"):
        child.receive(stream, 2)


@pytest.mark.parametrize("kind", ["onnx", "torchscript", "torch-export"])
def test_weights_and_pickled_modules_are_called_what_they_are(tmp_path: Path, kind: Any) -> None:
    latents = tmp_path / "z.npy"
    np.save(latents, np.random.default_rng(0).standard_normal((200, 3)).astype(np.float32))
    network = torch.nn.Linear(3, 64)
    for saved, older, words in (
        (network.state_dict(), False, "only weights (a state_dict"),
        (network, False, "a pickled module (torch.nn.modules.linear Linear)"),
        (network.state_dict(), True, "data written by torch.save"),
    ):
        torch.save(saved, tmp_path / "a.pt", _use_new_zipfile_serialization=not older)
        with pytest.raises(ModelError) as error:
            import_decoder(tmp_path / "a.pt", kind, latents, "own/a", out=tmp_path / "out")
        assert words in error.value.what
        assert "ONNX" in (error.value.todo or "")
        assert "corrupted" not in str(error.value)


class Endless(Module):
    def forward(self, z: torch.Tensor) -> torch.Tensor:
        while float((z * 0.0).sum()) == 0.0:
            z = z + 1.0
        return z


def test_a_torchscript_program_that_loops_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(Endless()), tmp_path / "a.pt")
    monkeypatch.setattr(convert, "SECONDS", 2)
    latents = tmp_path / "z.npy"
    np.save(latents, np.random.default_rng(0).standard_normal((200, 3)).astype(np.float32))
    with pytest.raises(ModelError, match="still computing after 2 seconds"):
        import_decoder(tmp_path / "a.pt", "torchscript", latents, "own/a", out=tmp_path / "out")
