"""Programs and libraries of Linux (ELF files): what they load, and which glibc they need."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

SYSTEM = re.compile(
    r"(ld-linux.*|libc|libm|libdl|librt|libpthread|libutil|libresolv|libanl|libnsl\.so\.1"
    r"|libstdc\+\+|libgcc_s|linux-vdso)(\.so.*)?"
)
"""Libraries that are never shipped: those of glibc, and those of the compiler, which graphics
drivers load as well. A copy beside the system's own would break both."""


@dataclass(frozen=True)
class Elf:
    """One file.

    Attributes
    ----------
    path : where it is.
    soname : the name that others load it by; the file's own where it states none.
    needed : the names of the libraries that it loads.
    glibc : the newest version of glibc that it asks for; (0,) where it asks for none.
    """

    path: Path
    soname: str
    needed: frozenset[str]
    glibc: tuple[int, ...]


def read(path: Path) -> Elf | None:
    """What a file loads; None where it is no ELF file."""
    with path.open("rb") as stream:
        if stream.read(4) != b"\x7fELF":
            return None
        elf = ELFFile(stream)
        soname, needed, versions = path.name, set(), [(0,)]
        for section in elf.iter_sections():
            if isinstance(section, DynamicSection):
                for tag in section.iter_tags():
                    if tag.entry.d_tag == "DT_NEEDED":
                        needed.add(tag.needed)
                    elif tag.entry.d_tag == "DT_SONAME":
                        soname = tag.soname
            elif isinstance(section, GNUVerNeedSection):
                for _, asked in section.iter_versions():
                    names = (re.fullmatch(r"GLIBC_([\d.]+)", version.name) for version in asked)
                    versions += [tuple(map(int, name[1].split("."))) for name in names if name]
    return Elf(path, soname, frozenset(needed), max(versions))


def elves(root: Path) -> Iterator[Elf]:
    """All ELF files below a folder."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and (elf := read(path)):
            yield elf


def newest_glibc(files: Iterable[Elf]) -> str:
    """The oldest glibc that all of these files run on."""
    return ".".join(map(str, max(elf.glibc for elf in files)))


def from_outside(files: Iterable[Elf]) -> set[str]:
    """The libraries that these files load and that are not among them."""
    known = list(files)
    own = {elf.soname for elf in known} | {elf.path.name for elf in known}
    return set().union(*(elf.needed for elf in known)) - own


def reached(roots: Iterable[Elf], libraries: Iterable[Elf]) -> set[Path]:
    """Those of the libraries that the roots load, directly or through others."""
    by_name = {name: elf for elf in libraries for name in (elf.soname, elf.path.name)}
    todo, paths = list(roots), set()
    while todo:
        for name in todo.pop().needed:
            elf = by_name.get(name)
            if elf and elf.path not in paths:
                paths.add(elf.path)
                todo.append(elf)
    return paths


def resolved(path: Path) -> dict[str, Path]:
    """The libraries that a file loads on this machine, all of them, without those of the system."""
    done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=True)
    loaded = re.findall(r"^\s*(\S+) => (/\S+)", done.stdout, re.MULTILINE)
    return {name: Path(file).resolve() for name, file in loaded if not SYSTEM.fullmatch(name)}
