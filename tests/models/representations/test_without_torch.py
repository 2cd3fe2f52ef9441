"""What needs torch and where it is missing says what asked for it, and what to do instead."""

from __future__ import annotations

import pytest

from labapp.base import installation
from labapp.base.errors import DeviceMissing, ModelError
from labapp.models.representations import package
from labapp.models.representations.importing import convert
from labapp.ui import doctor


@pytest.fixture(autouse=True)
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (package, installation, doctor):
        monkeypatch.setattr(module, "find_spec", lambda name: None)


def test_a_graphics_card_that_was_asked_for_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABAPP_DEVICE", "cuda")
    with pytest.raises(DeviceMissing, match="sinelines/vae on cuda") as missing:
        package.load_package("sinelines/vae")
    assert "unset LABAPP_DEVICE" in missing.value.todo
    assert "extras add torch" in missing.value.todo
    checks = [check for check in doctor._decoders() if not check.ok]
    assert [check.found for check in checks] == [
        "LABAPP_DEVICE is 'cuda', which needs torch, so decoders cannot start"
    ]


def test_the_processor_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABAPP_DEVICE", raising=False)
    assert package.load_package("sinelines/vae").device == "cpu"
    assert all(check.ok for check in doctor._decoders())


def test_a_file_of_torch_names_both_extras() -> None:
    convert.import_onnx()
    with pytest.raises(ModelError, match=r"not installed \(torch\)") as missing:
        convert.import_onnx(torch=True)
    assert "extras add import,torch" in missing.value.todo
