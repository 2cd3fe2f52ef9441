"""Reading tensors: whatever the shards, the values come back; whatever is wrong, it is said."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import ModelError
from labapp.models.representations import tfjs
from tests.models.representations.tfjs import published

shapes = st.lists(st.integers(1, 4), max_size=4)
groups = st.lists(
    st.lists(st.tuples(shapes, st.sampled_from([np.float32, np.int32])), min_size=1, max_size=5),
    min_size=1,
    max_size=3,
)


@given(groups=groups, data=st.data())
def test_any_split_into_shards_reads_the_same(groups: Any, data: st.DataObject) -> None:
    generator = np.random.default_rng(0)
    expected: published.Tensors = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = []
        for number, group in enumerate(groups):
            tensors = {
                f"scope/{number}/{index}": generator.integers(-99, 99, shape).astype(dtype)
                for index, (shape, dtype) in enumerate(group)
            }
            size = len(published.content(tensors))
            cuts = data.draw(st.lists(st.integers(0, size), max_size=6))
            parts.append(published.write_group(folder, tensors, cuts, number))
            expected |= tensors
        (folder / tfjs.MANIFEST).write_text(json.dumps(parts), encoding="utf-8")
        found = tfjs.read(folder)
    assert found.tensors.keys() == expected.keys()
    for key, values in expected.items():
        assert found.tensors[key].dtype == values.dtype
        np.testing.assert_array_equal(found.tensors[key], values)


TENSORS: published.Tensors = {
    "a/kernel": np.arange(6, dtype=np.float32).reshape(2, 3),
    "a/bias": np.ones(3, np.float32),
    "a/Reshape/shape": np.array([-1, 3], np.int32),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, [published.write_group(tmp_path, TENSORS, [5, 20])])
    return tmp_path


def write(folder: Path, parts: Any) -> None:
    (folder / tfjs.MANIFEST).write_text(json.dumps(parts), encoding="utf-8")


def parts_of(folder: Path) -> Any:
    return json.loads((folder / tfjs.MANIFEST).read_text(encoding="utf-8"))


def refusal(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        tfjs.read(folder)
    assert caught.value.safe
    assert caught.value.todo
    return caught.value.what


def test_a_missing_shard_is_named(folder: Path) -> None:
    (folder / "group1-shard2of3.pb").unlink()
    (folder / "group1-shard3of3.pb").unlink()
    assert "lacks group1-shard2of3.pb; group1-shard3of3.pb" in refusal(folder)


@pytest.mark.parametrize(("change", "text"), [(b"..", "2 more than the 44"), (None, "2 fewer")])
def test_surplus_and_lacking_bytes_are_counted(
    folder: Path, change: bytes | None, text: str
) -> None:
    shard = folder / "group1-shard3of3.pb"
    whole = shard.read_bytes()
    shard.write_bytes(whole + change if change else whole[:-2])
    assert text in refusal(folder)


@pytest.mark.parametrize(
    "path",
    [
        "../group1-shard1of3.pb",
        "/etc/hostname",
        "sub/shard",
        "a\\b",
        "..",
        ".",
        "",
        "C:shard",
        "a\0b",
        "https://example.org/shard",
    ],
)
def test_a_path_out_of_the_folder_is_refused_unread(folder: Path, path: str) -> None:
    parts = parts_of(folder)
    parts[0]["paths"][0] = path
    write(folder, parts)
    assert "may lie outside its folder" in refusal(folder)


def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path_factory: Any) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "shard"
    shard = folder / "group1-shard1of3.pb"
    shard.rename(elsewhere)
    shard.symlink_to(elsewhere)
    assert "link to a place outside" in refusal(folder)


def test_quantised_tensors_are_refused_by_name(folder: Path) -> None:
    parts = parts_of(folder)
    parts[0]["weights"][1]["quantization"] = {"dtype": "uint8", "scale": 0.1, "min": 0}
    write(folder, parts)
    text = refusal(folder)
    assert "quantised" in text
    assert "a/bias" in text
    assert "a/kernel" not in text


@pytest.mark.parametrize("dtype", ["uint8", "bool", "float16", "string", "complex64", ""])
def test_other_types_are_refused_by_name(folder: Path, dtype: str) -> None:
    parts = parts_of(folder)
    parts[0]["weights"][0]["dtype"] = dtype
    write(folder, parts)
    assert f"a/kernel is {dtype}, not float32 or int32" in refusal(folder)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ([2, -3], "weights[0].shape[1]"),
        ([0, 3], "weights[0].shape[0]"),
        ([2.0, 3], "weights[0].shape[0]"),
        ([True, 3], "weights[0].shape[0]"),
        (["2", 3], "weights[0].shape[0]"),
        ([1] * 9, "weights[0].shape"),
        ([2**40, 2**40], "fewer than the"),
    ],
)
def test_a_shape_that_is_none_is_refused(folder: Path, shape: Any, text: str) -> None:
    parts = parts_of(folder)
    parts[0]["weights"][0]["shape"] = shape
    write(folder, parts)
    assert text in refusal(folder)


def test_a_file_or_tensor_listed_twice_is_refused(folder: Path) -> None:
    parts = parts_of(folder)
    parts[0]["weights"][1]["name"] = "a/kernel"
    write(folder, parts)
    assert "a tensor twice: a/kernel" in refusal(folder)
    write(folder, [*parts_of(folder), *parts_of(folder)])
    assert "a file twice: group1-shard1of3.pb" in refusal(folder)


def test_values_that_are_not_finite_are_refused(folder: Path) -> None:
    shard = folder / "group1-shard1of3.pb"
    shard.write_bytes(np.float32("nan").tobytes() + shard.read_bytes()[4:])
    assert "a/kernel contains values that are not finite" in refusal(folder)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", "[1]", '[{"paths": []}]', "[" * 5000, '[{"paths": ["a"]}]', "\udcff"],
)
def test_what_is_no_manifest_is_refused(folder: Path, text: str) -> None:
    path = folder / tfjs.MANIFEST
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert "does not look like a TensorFlow.js package" in refusal(folder)


def test_a_huge_manifest_is_not_parsed(folder: Path) -> None:
    with (folder / tfjs.MANIFEST).open("wb") as stream:
        stream.truncate(tfjs.LARGEST + 1)
    assert f"at most {tfjs.LARGEST}" in refusal(folder)
