"""Codes and factors from files, and what is wrong with those that cannot be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labapp.base.errors import MetricError
from labapp.base.reading import files as outside
from labapp.models.metrics.evaluation import scores

VALUES = np.array([[0.5, -1.0], [2.0, 1e-3], [3.25, 7.0]])


def test_an_array_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    np.save(tmp_path / "codes.npy", VALUES)
    found = scores.read(tmp_path / "codes.npy", "c")
    assert np.array_equal(found.values, VALUES)
    assert found.names == ("c1", "c2")


def test_codes_of_several_numbers_are_named_by_code(tmp_path: Path) -> None:
    np.save(tmp_path / "codes.npy", np.zeros((4, 3, 7), np.float32))
    found = scores.read(tmp_path / "codes.npy", "c")
    assert (found.values.shape, found.names) == ((4, 3, 7), ("c1", "c2", "c3"))


@given(arrays(np.float64, (3, 2), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_csv_keeps_every_digit(values: np.ndarray) -> None:
    lines = [",".join(repr(float(value)) for value in row) for row in values]
    path = Path("values.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            outside, "content", lambda *_: "\n".join(["x position,  ", *lines, ""]).encode()
        )
        found = scores.read(path, "z")
    assert np.array_equal(found.values, values)
    assert found.names == ("x position", "z2")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0.5,-1\n2,0.001\n3.25,7\n", ("z1", "z2")),
        ("scale,x\n0.5,-1\n\n2,0.001\n3.25,7", ("scale", "x")),
        ('\ufeff"scale","x, y"\r\n0.5,-1\r\n2,0.001\r\n3.25,7\r\n', ("scale", "x, y")),
    ],
)
def test_csv_with_and_without_names(tmp_path: Path, text: str, names: tuple[str, ...]) -> None:
    path = tmp_path / "factors.CSV"
    path.write_bytes(text.encode())
    found = scores.read(path, "z")
    assert np.array_equal(found.values, VALUES)
    assert found.names == names


def test_what_is_not_a_number_in_a_csv_is_named(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("a,b\n1,2\n3,many\n", encoding="utf-8")
    with pytest.raises(MetricError, match="line 3 holds 'many'"):
        scores.read(path, "c")
    path.write_text("1,2\n3,4,5\n", encoding="utf-8")
    with pytest.raises(MetricError, match="line 2 has 3 cells, and line 1 has 2"):
        scores.read(path, "c")
    path.write_text("", encoding="utf-8")
    with pytest.raises(MetricError, match="empty"):
        scores.read(path, "c")
    path.write_bytes(b"a,b\n\xff\xfe,1\n")
    with pytest.raises(MetricError, match="line 2 holds 'ÿþ'"):
        scores.read(path, "c")


def test_files_that_hold_no_array_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match="no such file"):
        scores.read(tmp_path / "none.npy", "c")
    with pytest.raises(MetricError, match=r"neither \.npy nor \.csv"):
        scores.read(tmp_path / "codes.xlsx", "c")
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(MetricError, match="cannot be read"):
        scores.read(tmp_path / "folder.npy", "c")
    for content in (b"", b"hello", b"\x93NUMPY\x01\x00"):
        (tmp_path / "torn.npy").write_bytes(content)
        with pytest.raises(MetricError, match="no plain array"):
            scores.read(tmp_path / "torn.npy", "c")
    np.savez(tmp_path / "two.npz", a=VALUES, b=VALUES)
    (tmp_path / "two.npz").rename(tmp_path / "two.npy")
    with pytest.raises(MetricError, match="several arrays"):
        scores.read(tmp_path / "two.npy", "c")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "codes.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(MetricError, match="no plain array"):
        scores.read(tmp_path / "codes.npy", "c")
