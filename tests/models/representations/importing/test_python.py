"""Decoders that are functions of a lab's own package: converted where they can be, else run where
the package is, and refused where it or its pictures are others."""

import importlib
import json
import platform
import sys
import warnings
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import ModelError, SessionError
from labapp.cli.models import models_bench
from labapp.models import catalog as models_catalog
from labapp.models.representations import package, python_backend
from labapp.models.representations.importing import memory
from labapp.models.representations.importing.importing import Imported, import_decoder
from labapp.record.events.registry import UnstampedEvent
from labapp.session.pictures import load_warm
from labapp.session.resuming import check_models
from labapp.study.overview import space_of
from tests.helpers.journals import stamp

DECODER = """
from pathlib import Path
import numpy as np

BASIS = np.load(Path(__file__).parent / "basis.npy")


def decode(latents):
    return 1 / (1 + np.exp(-latents @ BASIS))


def undefined(latents):
    x = np.where(latents[:, :1] > 0.5, np.nan, 0.5)
    return np.repeat(x, 12, 1).reshape(-1, 3, 4)


def alike(latents):
    return np.full((len(latents), 3, 4), 0.5) + 1e-5 * latents[:, :1, None]


def faint(latents):
    return np.full((len(latents), 3, 4), 0.5) + 0.01 * np.tanh(latents[:, :1, None])


def noisy(latents):
    return np.random.rand(len(latents), 3, 4)


def breaks(latents):
    raise KeyError("weights")


def huge(latents):
    return np.ones((len(latents), 1 << 44))


def network():
    import torch

    return torch.nn.Sequential(
        torch.nn.Linear(2, 12), torch.nn.Sigmoid(), torch.nn.Unflatten(1, (3, 4))
    )


NUMBER = 3
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of the user's, found by Python."""
    folder = tmp_path / "python" / "own_decoders"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "pca.py").write_text(DECODER)
    np.save(folder / "basis.npy", np.random.default_rng(1).normal(size=(2, 12)))
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "models"))
    monkeypatch.syspath_prepend(str(tmp_path / "python"))
    forget()
    return folder


def forget() -> None:
    """As a program that starts anew."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "own_decoders"]:
        del sys.modules[name]
    importlib.invalidate_caches()


def latents(tmp_path: Path) -> Path:
    path = tmp_path / "z.npy"
    np.save(path, np.random.default_rng(2).normal(size=(60, 2)).astype(np.float32))
    return path


def imported(tmp_path: Path, name: str, shape: tuple[int, ...] | None = None) -> Imported:
    return import_decoder(
        f"own_decoders.pca:{name}",
        "python",
        latents(tmp_path),
        "mine/own",
        shape=shape,
        dataset="digits8",
    )


def test_a_function_is_a_model_where_its_package_is(tmp_path: Path, own: Path) -> None:
    made = imported(tmp_path, "decode", (3, 4))
    assert made.card.backend == made.card.architecture == "python"
    assert made.card.dataset == "digits8"
    assert made.card.origin is not None
    assert made.card.origin.package == {
        "function": "own_decoders.pca:decode",
        "package": "own_decoders",
        "version": "none",
    }
    assert set(made.card.origin.files) == {"own_decoders", "z.npy"}
    assert made.card.origin.versions == {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": metadata.version("torch"),
    }
    assert made.card.origin.limits == "z.npy"
    assert any(note.startswith("Sliders, as z.npy says: z1 -") for note in made.notes)
    decoder = package.load_package("mine/own")
    z = np.random.default_rng(3).normal(size=(7, 2)).astype(np.float32)
    basis = np.load(own / "basis.npy")
    expected = (1 / (1 + np.exp(-z @ basis))).reshape(-1, 3, 4)
    np.testing.assert_allclose(decoder.decode(z), expected, atol=1e-6)
    assert decoder.backend[1].endswith(", own_decoders none")
    assert len(space_of("mine/own")) == 2


@pytest.mark.parametrize("changed", ["pca.py", "basis.npy"])
def test_another_package_is_refused_before_it_is_run(
    changed: str, tmp_path: Path, own: Path
) -> None:
    imported(tmp_path, "decode", (3, 4))
    forget()
    with (own / changed).open("ab") as file:
        file.write(b"\nraise SystemExit('it was run')\n")
    for use in (package.load_package, space_of):
        with pytest.raises(ModelError, match="its files have changed since the import"):
            use("mine/own")


def test_other_pictures_of_the_same_package_are_refused(
    tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after another version of a package that the function uses."""
    imported(tmp_path, "decode", (3, 4))
    module = importlib.import_module("own_decoders.pca")
    monkeypatch.setattr(module, "BASIS", module.BASIS * 1.1)
    with pytest.raises(ModelError, match="its pictures differ from those of the import by up to"):
        package.load_package("mine/own")
    (card,) = (tmp_path / "models").rglob("model.yaml")
    version = f"numpy: {np.__version__}"
    assert version in card.read_text("utf-8")
    card.write_text(card.read_text("utf-8").replace(version, "numpy: 1.0.1"), "utf-8")
    with pytest.raises(ModelError, match=f"made with numpy 1.0.1, here {np.__version__}"):
        package.load_package("mine/own")


def test_the_card_has_the_versions_of_what_a_function_imports_and_unpickles(
    tmp_path: Path, own: Path
) -> None:
    """Of a module of its own beside the package there is no version; what is imported in a
    function counts, what nobody has does not."""
    (own.parent / "beside.py").write_text("")
    with (own / "pca.py").open("a") as file:
        file.write("import beside\ndef late():\n    import sklearn.svm, no_such_package\n")
    code = python_backend.locate("own_decoders.pca:decode")
    loaded = set(sys.modules) - {name for name in sys.modules if name.startswith("pandas")}
    assert set(python_backend.versions_used(code, sys.modules)) == {
        "python", "numpy", "torch", "scikit-learn", "beside",
    }  # fmt: skip
    import pandas

    versions = python_backend.versions_used(code, loaded)
    assert versions["pandas"] == pandas.__version__
    assert versions["beside"] == "none"


def test_a_package_that_is_not_here_is_told(
    tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(tmp_path, "decode", (3, 4))
    forget()
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != str(own.parent)])
    with pytest.raises(ModelError, match="Python cannot find a package own_decoders here"):
        package.load_package("mine/own")


def test_code_that_was_written_since_it_was_loaded_is_not_run_as_it_was(
    tmp_path: Path, own: Path
) -> None:
    """A model imported anew while a program is open: Python would go on with the module it has."""
    imported(tmp_path, "decode", (3, 4))
    package.load_package("mine/own")
    with (own / "pca.py").open("a") as file:
        file.write("# other code\n")
    code = python_backend.locate("own_decoders.pca:decode")
    with pytest.raises(ModelError, match="were changed after this program loaded") as error:
        python_backend.call(code)
    assert "start it again" in error.value.todo
    forget()  # as a program that starts
    assert callable(python_backend.call(code))


def test_a_session_records_what_computes_it_and_is_not_resumed_by_another(
    tmp_path: Path, own: Path
) -> None:
    imported(tmp_path, "decode", (3, 4))
    (warmed,) = load_warm(["mine/own"]).warmed
    assert warmed.backend == "python"
    check_models(stamp([(0, "system", UnstampedEvent(warmed))]), [warmed], accept_version=False)
    other = replace(warmed, backend_version="3.10.0, own_decoders none")
    with pytest.raises(SessionError, match=r"computed by python 3\.10\.0, own_decoders none"):
        check_models(stamp([(0, "system", UnstampedEvent(other))]), [warmed], accept_version=False)


def test_a_network_becomes_a_graph_which_needs_no_package(tmp_path: Path, own: Path) -> None:
    made = imported(tmp_path, "network")
    assert made.card.backend == "onnxruntime"
    assert made.card.origin is not None
    assert made.card.origin.format == "python"
    assert made.card.shape == (3, 4)
    forget()
    (own / "pca.py").unlink()
    assert package.load_package("mine/own").decode(np.zeros((1, 2), np.float32)).shape == (1, 3, 4)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("own_decoders.pca:undefined", r"in all of them z1 lies from 0\.5\d* to \d.*Such as \("),
        (
            "own_decoders.pca:alike",
            "its pictures are all the same: .* a screen shows steps of 0.0039",
        ),
        ("own_decoders.pca:noisy", "a different picture each time"),
        ("own_decoders.pca:breaks", "fails on latents of the shape .*KeyError: 'weights'"),
        ("own_decoders.pca:NUMBER", "returns int, not a decoder"),
        ("own_decoders.pca:missing", "cannot be loaded: AttributeError"),
        ("own_decoders.pca:decode", "beyond|is not a series|12 wide|instances of the shape"),
        ("own_decoders", "does not name a function of a package"),
        ("os:abort", "It is Python's own"),
        ("not_installed_here:decode", "Python cannot find a package not_installed_here"),
    ],
)
def test_faults_are_told(name: str, says: str, tmp_path: Path, own: Path) -> None:
    shape = (5, 5) if name.endswith(":decode") else None
    with pytest.raises(ModelError, match=says):
        import_decoder(name, "python", latents(tmp_path), "mine/own", shape=shape)
    assert not (tmp_path / "models").exists()


def test_pictures_that_differ_little_are_warned_of(tmp_path: Path, own: Path) -> None:
    notes = " ".join(imported(tmp_path, "faint").notes)
    assert "differ by" in notes
    assert "in mse (median of" in notes
    assert "Warning: this is a small difference." in notes
    assert "Warning" not in " ".join(
        import_decoder(
            "own_decoders.pca:decode", "python", latents(tmp_path), "mine/two", shape=(3, 4)
        ).notes
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much memory is free")
def test_what_wants_more_memory_than_there_is_is_refused(tmp_path: Path, own: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(ModelError, match=r"it needs more memory than the .* GiB that it may take"):
        imported(tmp_path, "huge")
    assert resource.getrlimit(resource.RLIMIT_AS) == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much memory is free")
@pytest.mark.parametrize("kind", ["onnx", "torchscript"])
def test_a_graph_that_wants_more_memory_than_is_free_is_refused(
    kind: str, tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    class Wide(torch.nn.Module):
        def forward(self, z: torch.Tensor) -> torch.Tensor:
            x = z[:, :1, None].repeat(1, 1 << 13, 1 << 12)
            return torch.sigmoid((x + x.exp()).mean(1, keepdim=True)[:, :, :9])

    monkeypatch.setattr(memory, "free", lambda: 600 << 20)
    path = tmp_path / "decoder"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "onnx":
            torch.onnx.export(
                Wide(), (torch.zeros(2, 2),), path, dynamo=False, input_names=["z"],
                output_names=["x"], dynamic_axes={"z": {0: "n"}, "x": {0: "n"}},
                do_constant_folding=False,
            )  # fmt: skip
        else:
            torch.jit.save(torch.jit.script(Wide()), path)
    with pytest.raises(ModelError, match=r"it needs more memory than the 0\.\d GiB"):
        import_decoder(path, kind, latents(tmp_path), "mine/own")  # type: ignore[arg-type]


def test_a_model_whose_package_is_another_stops_neither_list_nor_bench(
    tmp_path: Path, own: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(tmp_path, "decode", (3, 4))
    forget()
    (own / "pca.py").write_text("")
    (row,) = [row for row in models_catalog.models() if row["id"] == "mine/own"]
    assert "the package that is installed here is different" in row["problem"]
    monkeypatch.setattr(package, "list_packages", lambda: ["mine/own", "sinelines/gt"])
    models_bench(all_=True, n=3, json_=True)
    refused, timed = json.loads(capsys.readouterr().out)
    assert refused["model"] == "mine/own"
    assert "is different" in refused["problem"]
    assert timed["median_ms"] > 0
