"""The lock files: every package that is installed, at one version, with the hashes of its files.

    python scripts/lock.py           write locks/run.txt, locks/docs.txt and locks/test.txt
    python scripts/lock.py --check   only resolve them from wheels for every system and Python

constraints.txt says which versions are chosen; the lock files are made from it and pyproject.toml,
for Linux x64, Windows x64 and macOS arm64 and for Python 3.11 to 3.14 at once. It needs the package
index, and uv. torch is left out: its builds for processors and for graphics cards have one version
and different files, so it is installed by version alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = {"run": (), "docs": ("docs",), "test": ("dev", "docs")}
"""By lock file, the extras that it has beside what labapp itself needs."""
LEFT_OUT = ("torch", "triton", "cuda-", "nvidia-")
SYSTEMS = ("x86_64-manylinux_2_34", "x86_64-pc-windows-msvc", "aarch64-apple-darwin")
"""Linux with glibc 2.34, Windows, macOS 14."""
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
OLDEST = "3.11.2"
"""Of Debian 12."""


def main() -> None:
    if "--check" not in sys.argv:
        for name, extras in LOCKS.items():
            write(name, extras)
    if failed := list(unresolved()):
        sys.exit("\n".join(failed))


def write(name: str, extras: tuple[str, ...]) -> None:
    """One lock file."""
    target = ROOT / "locks" / f"{name}.txt"
    # The words of the windows are compiled by babel when a checkout is set up.
    more = target.with_name("more.in")
    more.write_text("babel\n", "utf-8")
    added = [word for extra in extras for word in ("--extra", extra)]
    try:
        text = uv(
            "pip", "compile", "pyproject.toml", str(more), "--universal", "--generate-hashes",
            "--python-version", OLDEST, "--no-annotate", "--no-header", "--quiet",
            "--constraint", "constraints.txt", *added,
        )  # fmt: skip
    finally:
        more.unlink()
    blocks = text.replace("\\\n", "\\\0").splitlines()
    kept = [block for block in blocks if not block.startswith(LEFT_OUT)]
    head = "# Made by scripts/lock.py from pyproject.toml and constraints.txt.\n"
    target.write_text(head + "\n".join(kept).replace("\0", "\n") + "\n", "utf-8")
    print(f"{target.relative_to(ROOT)}: {len(kept)} packages")


def unresolved() -> Iterator[str]:
    """Each lock file, system and Python for which a package has no wheel with a known hash."""
    for name in LOCKS:
        for system in SYSTEMS:
            for python in PYTHONS:
                version = OLDEST if python == "3.11" else python
                with tempfile.TemporaryDirectory() as target:
                    try:
                        uv(
                            "pip", "install", "--dry-run", "--require-hashes", "--no-deps",
                            "--only-binary", ":all:", *BUILT, "--python-platform", system,
                            "--python-version", version, "--target", target,
                            "--requirement", f"locks/{name}.txt",
                        )  # fmt: skip
                    except RuntimeError as error:
                        yield f"{name}, {system}, Python {python}: {error}"


BUILT = ("--no-binary", "docopt")
"""Packages of the tests that exist as source only."""


def uv(*arguments: str) -> str:
    program = Path(sys.executable).with_name("uv")
    environment = os.environ | {"MACOSX_DEPLOYMENT_TARGET": "14.0", "UV_SYSTEM_CERTS": "1"}
    command = [str(program), *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


if __name__ == "__main__":
    main()
