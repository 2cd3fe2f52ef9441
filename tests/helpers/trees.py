"""Looking at folders: what is in them, and that nothing was touched."""

from __future__ import annotations

from pathlib import Path


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below the folder with its content."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def flip(path: Path, at: int) -> None:
    """Change one byte of a file: the lowest bit of the byte at `at` (modulo the length)."""
    content = bytearray(path.read_bytes())
    content[at % len(content)] ^= 1
    path.write_bytes(bytes(content))
