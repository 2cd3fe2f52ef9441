"""The data of ICU, the library that Qt sorts and converts text with, without what Qt does not ask
for: 15 of 32 MB.

ICU's data are one table of named files (https://unicode-org.github.io/icu/userguide/icu_data/), the
only symbol of a library that holds nothing else. The assembler and the linker make it again.
"""

from __future__ import annotations

import struct
import subprocess
import tempfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

UNUSED = ("brkitr", "curr", "lang", "rbnf", "region", "translit", "unit")
"""Where lines break, names of currencies, languages, regions and units, numbers in words,
transliteration: Qt has its own tables of what it uses of these."""
ALIGNED = 16


def trim(library: Path) -> None:
    """Leave the folders UNUSED out of a libicudata."""
    with library.open("rb") as stream:
        elf = ELFFile(stream)
        symbols = elf.get_section_by_name(".dynsym").iter_symbols()
        (symbol,) = (each for each in symbols if each.name.startswith("icudt"))
        section = elf.get_section(symbol["st_shndx"])
        data = section.data()[symbol["st_value"] - section["sh_addr"] :]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "data").write_bytes(without(data, UNUSED))
        (Path(folder) / "data.s").write_text(
            f".section .rodata\n.balign {ALIGNED}\n.globl {symbol.name}\n"
            f".type {symbol.name}, @object\n{symbol.name}:\n.incbin "
            f'"{folder}/data"\n.size {symbol.name}, . - {symbol.name}\n'
        )
        subprocess.run(["as", "-o", f"{folder}/data.o", f"{folder}/data.s"], check=True)
        linked = ["ld", "-shared", "-z", "noexecstack", "-soname", library.name]
        subprocess.run([*linked, "-o", str(library), f"{folder}/data.o"], check=True)


def without(data: bytes, folders: tuple[str, ...]) -> bytes:
    """A table of named files without those of some folders. data: header, number of files, for each
    the places of its name and of its content, counted from the number on, and these."""
    header = data[: struct.unpack_from("<H", data)[0]]
    table = data[len(header) :]
    (count,) = struct.unpack_from("<I", table)
    places = [struct.unpack_from("<II", table, 4 + 8 * at) for at in range(count)]
    ends = [start for _, start in places[1:]] + [len(table)]
    files = []
    for (name_at, start), end in zip(places, ends, strict=True):
        name = table[name_at : table.index(b"\0", name_at)]
        if name.decode().split("/")[1] not in folders:
            files.append((name + b"\0", table[start:end]))
    name_at = 4 + 8 * len(files)
    names = b"".join(name for name, _ in files)
    start = _aligned(name_at + len(names))
    made = struct.pack("<I", len(files))
    for name, content in files:
        made += struct.pack("<II", name_at, start)
        name_at, start = name_at + len(name), _aligned(start + len(content))
    made += names
    body = bytearray(made.ljust(_aligned(len(made)), b"\0"))
    for _, content in files:
        body += content.ljust(_aligned(len(content)), b"\0")
    return header + bytes(body)


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED
