"""Score files hold finite numbers in rows and columns, and nothing else is read from them."""

from __future__ import annotations

import io
import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import StimuliError
from labapp.models.stimuli import score_files


def saved(values: Any, *, allow_pickle: bool = True) -> bytes:
    out = io.BytesIO()
    np.save(out, np.asarray(values), allow_pickle=allow_pickle)
    return out.getvalue()


def test_scores_come_back_as_they_were_written() -> None:
    values = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
    content = score_files.encode_scores(values)
    found = score_files.decode_scores(content, "a.npy")
    assert (found == values).all()
    assert found.dtype == np.float64
    assert not found.flags.writeable
    assert score_files.encode_scores(np.asfortranarray(values)) == content
    assert score_files.decode_scores(saved([[1, 2], [3, 4]]), "a.npy").tolist() == [[1, 2], [3, 4]]


ODD = {
    "no npy": (b"<html>", "not readable as .npy"),
    "empty": (b"", "not readable as .npy"),
    "cut off": (score_files.encode_scores(np.zeros((9, 9)))[:-5], "not readable as .npy"),
    "pickled": (pickle.dumps([1.0]), "not readable as .npy"),
    "objects": (saved(np.array([[{}]], object)), "not readable as .npy"),
    "text": (saved([["a", "b"]]), "holds <U1"),
    "complex": (saved([[1j]]), "holds complex128"),
    "true and false": (saved([[True]]), "holds bool"),
    "three axes": (saved(np.zeros((3, 4, 4))), r"has the shape \(3, 4, 4\)"),
    "nothing in it": (saved(np.zeros((0, 4))), r"has the shape \(0, 4\)"),
    "far too wide": (saved(np.zeros((1, 5000), np.int8)), r"has the shape \(1, 5000\)"),
    "not finite": (saved([[0.0, np.nan], [np.inf, 1.0]]), "2 values that are no finite numbers"),
}


@pytest.mark.parametrize("odd", ODD)
def test_anything_else_is_refused_and_said(odd: str) -> None:
    content, said = ODD[odd]
    with pytest.raises(StimuliError, match=said) as refused:
        score_files.decode_scores(content, "a.npy")
    assert "'a.npy'" in refused.value.what
    assert refused.value.todo


def test_several_arrays_in_one_file_are_refused() -> None:
    out = io.BytesIO()
    np.savez(out, a=np.zeros((2, 2)))
    with pytest.raises(StimuliError, match=r"'a\.npy' is not readable as \.npy"):
        score_files.decode_scores(out.getvalue(), "a.npy")


@given(st.binary(max_size=200))
def test_any_bytes_are_told(content: bytes) -> None:
    with pytest.raises(StimuliError):
        score_files.decode_scores(content, "a.npy")


@given(place=st.integers(0, 127), put=st.binary(min_size=1, max_size=4))
def test_a_damaged_header_is_told_or_read(place: int, put: bytes) -> None:
    content = score_files.encode_scores(np.ones((3, 3)))
    damaged = content[:place] + put + content[place + len(put) :]
    try:
        found = score_files.decode_scores(damaged, "a.npy")
    except StimuliError:
        return
    assert found.ndim == 2
    assert np.isfinite(found).all()


def test_a_file_is_read_again_when_it_was_written_again(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(score_files.encode_scores(np.zeros((2, 2))))
    assert score_files.read(tmp_path, "a.npy").sum() == 0
    path.write_bytes(score_files.encode_scores(np.ones((2, 2))))
    os.utime(path, ns=(1, 1))
    assert score_files.read(tmp_path, "a.npy").sum() == 4
    path.unlink()
    with pytest.raises(StimuliError, match=r"The score file 'a\.npy' cannot be read: No such file"):
        score_files.read(tmp_path, "a.npy")


def test_no_file_outside_the_folder_is_read() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "set"
        folder.mkdir()
        (folder.parent / "a.npy").write_bytes(score_files.encode_scores(np.zeros((2, 2))))
        with pytest.raises(StimuliError, match="does not lie in the set's folder"):
            score_files.read(folder, "../a.npy")
        (folder / "b.npy").symlink_to(folder.parent / "a.npy")
        with pytest.raises(StimuliError, match=r"The score file 'b\.npy' is a link"):
            score_files.read(folder, "b.npy")
