"""What `make package` is made of. The package itself is built by hand and tried by
scripts/bare_root.sh: it takes minutes and a network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from scripts.package import contents, elf, icu, trim

ROOT = Path(__file__).parents[2]
EXTENSION = next(Path(sysconfig.get_path("stdlib")).glob("lib-dynload/_ctypes.*.so"))


def distribution(site: Path, name: str, licence: str, text: str = "") -> None:
    information = site / f"{name}-1.0.dist-info"
    information.mkdir(parents=True)
    head = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nLicense-Expression: {licence}\n"
    (information / "METADATA").write_text(head)
    record = f"{name}-1.0.dist-info/METADATA,,\n"
    if text:
        (information / "LICENSE").write_text(text)
        record += f"{name}-1.0.dist-info/LICENSE,,\n"
    (information / "RECORD").write_text(record)


def test_what_a_library_loads_is_read_from_it() -> None:
    read = elf.read(EXTENSION)
    assert read is not None
    assert "libffi" in " ".join(read.needed)
    assert (2, 2) <= read.glibc < (3,)
    assert elf.newest_glibc([read]) == ".".join(map(str, read.glibc))
    assert elf.from_outside([read]) == read.needed
    assert elf.read(Path(__file__)) is None


def test_what_goes_with_the_interpreter_is_never_glibc_nor_of_the_compiler() -> None:
    names = set(elf.resolved(EXTENSION))
    assert any(name.startswith("libffi") for name in names)
    assert not any(name.startswith(("libc.", "libm.", "ld-linux")) for name in names)
    for name in ("libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libpthread.so.0", "libnsl.so.1"):
        assert elf.SYSTEM.fullmatch(name), name
    for name in ("libcrypto.so.3", "libsqlite3.so.0", "libmpdec.so.3", "libnsl.so.2"):
        assert not elf.SYSTEM.fullmatch(name), name


def test_tests_sources_and_unused_libraries_are_left_out(tmp_path: Path) -> None:
    site = tmp_path / "site"
    kept = ("some/code.py", "some/testing/tool.py", "numpy/_core/tests/_natype.py")
    gone = (
        "some/tests/test_a.py", "some/deep/tests/data.csv", "some/fast.pyx", "some/typed.pyi",
        "numpy/_core/tests/test_b.py", "numpy/_core/include/numpy.h", "pyarrow/flight.py",
        "pyarrow/_s3fs.so", "onnxruntime/capi/libonnxruntime.so.1",
    )  # fmt: skip
    for name in (*kept, *gone):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).touch()
    used = elf.read(EXTENSION)
    assert used is not None
    # One library that a module loads, and one that none does; lib.so is a module.
    ffi = next(name for name in used.needed if name.startswith("libffi"))
    shutil.copy(EXTENSION, site / "pyarrow" / "lib.so")
    shutil.copy(elf.resolved(EXTENSION)[ffi], site / "pyarrow" / ffi)
    shutil.copy(elf.resolved(EXTENSION)[ffi], site / "pyarrow" / "libother.so.1")
    before = (site / "pyarrow" / "lib.so").stat().st_size
    trim.trim(site)
    assert [name for name in kept if not (site / name).is_file()] == []
    assert [name for name in gone if (site / name).exists()] == []
    assert (site / "pyarrow" / "lib.so").stat().st_size <= before
    assert (site / "pyarrow" / ffi).is_file()


def test_a_library_that_two_distributions_bring_is_kept_once(tmp_path: Path) -> None:
    for name, content in (("a.libs/libx.so.1", b"1"), ("b.libs/libx.so.1", b"1"),
                          ("a.libs/liby.so.1", b"1"), ("b.libs/liby.so.1", b"2")):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    trim.trim(tmp_path)
    assert [path.name for path in tmp_path.rglob("*.so*") if path.is_symlink()] == ["libx.so.1"]
    assert (tmp_path / "b.libs" / "libx.so.1").read_bytes() == b"1"
    assert (tmp_path / "b.libs" / "liby.so.1").read_bytes() == b"2"


SORTS = """
import ctypes, sys
unicode, sorting = (ctypes.CDLL(name) for name in sys.argv[1:])
status, release = ctypes.c_int(0), sys.argv[1].rpartition(".")[2]
open_ = getattr(sorting, f"ucol_open_{release}")
open_.restype = ctypes.c_void_p
swedish = ctypes.c_void_p(open_(b"sv", ctypes.byref(status)))
a, z = (ctypes.create_string_buffer(text.encode("utf-16-le")) for text in ("\u00e4", "z"))
assert getattr(sorting, f"ucol_strcoll_{release}")(swedish, a, 1, z, 1) == 1, status
converters = getattr(unicode, f"ucnv_open_{release}")
converters.restype = ctypes.c_void_p
assert converters(b"Shift_JIS", ctypes.byref(status)), status
"""


def test_the_tables_of_icu_still_sort_and_convert_without_what_qt_does_not_ask_for(
    tmp_path: Path,
) -> None:
    import PySide6

    libraries = sorted(Path(PySide6.__path__[0], "Qt", "lib").glob("libicu*.so.*"))
    data, sorting, unicode = (Path(shutil.copy(path, tmp_path)) for path in libraries)
    before = data.stat().st_size
    icu.trim(data)
    assert data.stat().st_size < 0.6 * before
    command = [sys.executable, "-c", SORTS, str(unicode), str(sorting)]
    subprocess.run(command, check=True)


def test_a_package_under_the_gpl_or_without_a_text_is_refused(tmp_path: Path) -> None:
    for name, licence, text, reason in (
        ("strict", "GPL-3.0-only", "text", "may not be shipped"),
        ("silent", "MIT", "", "brings no licence text"),
    ):
        site = tmp_path / name
        distribution(site, name, licence, text)
        with pytest.raises(contents.PackageError, match=reason):
            contents.write_licences(tmp_path / f"{name}-licences", site, site, [])


def test_every_licence_is_there(tmp_path: Path) -> None:
    site, standard = tmp_path / "site", tmp_path / "standard"
    distribution(site, "toy", "MIT", "Do what you like.")
    distribution(site, "shiboken6", "LGPL-3.0-only OR GPL-2.0-only")
    standard.mkdir()
    (standard / "LICENSE.txt").write_text("PSF")
    contents.write_licences(tmp_path / "licences", site, standard, [])
    files = {
        str(path.relative_to(tmp_path / "licences")) for path in tmp_path.rglob("licences/**/*")
    }
    assert {"toy-1.0/LICENSE", "LGPL-3.0.txt", "GPL-3.0.txt", "python/LICENSE.txt"} <= files
    said = (tmp_path / "licences" / "shiboken6-1.0" / "LICENCE.txt").read_text()
    assert said == "See ../QT.txt\n"


def test_the_bill_of_materials_names_everything(tmp_path: Path) -> None:
    distribution(tmp_path, "toy_box", "MIT", "x")
    library = contents.Library(Path("/lib/libz.so.1"), "zlib1g", "1:1.2")
    bill = contents.bill_of_materials("0.1.0", "3.11.7", tmp_path, [library])
    names = [component["purl"] for component in bill["components"]]
    assert names == [
        "pkg:generic/cpython@3.11.7",
        "pkg:pypi/toy-box@1.0",
        "pkg:deb/debian/zlib1g@1:1.2?arch=amd64",
    ]
    assert bill["bomFormat"] == "CycloneDX"
    assert all(component["licenses"] for component in bill["components"])
    json.dumps(bill)


def test_it_starts_by_a_link_from_anywhere_with_its_own_packages(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    (folder / "python/bin").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/package/labapp.sh", folder / "labapp")
    python = folder / "python/bin/python3"
    python.write_text('#!/bin/sh\necho "$0 $* ${PYTHONHOME-none} $PYTHONNOUSERSITE"\n')
    python.chmod(0o755)
    (tmp_path / "labapp").symlink_to(folder / "labapp")
    done = subprocess.run(
        [tmp_path / "labapp", "run", "a b"], env=os.environ | {"PYTHONHOME": "/else"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == f"{python} -P -m labapp run a b none 1\n"


def test_its_texts_have_no_place_left_open() -> None:
    places = "VERSION GLIBC LIBRARIES PACKAGES WHEELS PYTHON QT QTSERIES SIZE DEPENDS"
    values = dict.fromkeys(places.split(), "x")
    for name in ("README.txt", "QT.txt", "control"):
        assert "@" not in contents.filled(name, values).replace("labapp@localhost", "")


def test_the_script_of_the_bare_root_is_shell() -> None:
    for name in ("bare_root.sh", "package/labapp.sh", "package/postrm"):
        subprocess.run(["bash", "-n", ROOT / "scripts" / name], check=True)


def test_the_builder_says_how_it_is_called() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.package", "--help"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "--wheels" in done.stdout
