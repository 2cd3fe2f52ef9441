"""`make package`: labapp with an interpreter of its own, as a folder, an archive and a .deb.

    python -m scripts.package [--wheels FOLDER] [--out FOLDER]

On Linux the folder has the interpreter that runs this, with the libraries that it loads but never
those of glibc or of the compiler; labapp's wheel, those of its models, and what labapp needs,
without torch. docs/guide/installing.md says what is in it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from scripts.package import elf, trim
from scripts.package.contents import (
    HERE,
    Library,
    PackageError,
    bill_of_materials,
    filled,
    installed,
    owner,
    write_json,
    write_licences,
)

ROOT = Path(__file__).parents[2]
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
EPOCH = os.environ.get("SOURCE_DATE_EPOCH", "1767225600")
"""The time of every file, so that the same sources make the same archive."""
LARGEST = {"folder": 800e6, "archive": 400e6}
"""Bytes at most."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--wheels",
        type=lambda text: Path(text).absolute(),
        help="folder of labapp's wheels; built otherwise",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--level", default="12", help="how hard zstd compresses, 1 to 19")
    options = parser.parse_args()
    if sys.platform != "linux":
        sys.exit("make package builds for Linux, on Linux. Nothing was made.")
    if missing := [
        tool for tool in ("dpkg-deb", "zstd", "strip", "as", "ld", "tar") if not shutil.which(tool)
    ]:
        sys.exit(
            f"Missing: {', '.join(missing)}. Nothing was made. Install them: "
            "apt-get install binutils dpkg tar zstd"
        )
    options.out = options.out.absolute()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        build(options.wheels or build_wheels(options.out), options.out, options.level)
    except PackageError as error:
        sys.exit(f"{error} The package was not finished.")


def build(wheels: Path, out: Path, level: str) -> None:
    ours = sorted(wheels.glob("labapp*.whl"))
    (version,) = {wheel.name.split("-")[1] for wheel in ours}
    work = ROOT / "build" / "package"
    if work.exists():
        shutil.rmtree(work)
    name = f"labapp-{version}-linux-x64"
    folder = work / name
    say("the interpreter")
    libraries = copy_interpreter(folder / "python")
    say("labapp and what it needs")
    install(folder / "python", ours)
    site = folder / "python" / "lib" / PYTHON / "site-packages"
    trim.trim(site)
    describe(folder, site, version, libraries)
    say("a demonstration, which shows what is to be compiled")
    compile_what_is_used(folder, work)
    say(f"{name}.tar.zst")
    archive = out / f"{name}.tar.zst"
    pack(work, name, archive, level)
    say(f"labapp_{version}_amd64.deb")
    package = debian(work, folder, out / f"labapp_{version}_amd64.deb", version, level)
    made = [archive, package, *(shutil.copy(wheel, out) for wheel in ours if wheel.parent != out)]
    made += [path for path in ours if path.parent == out]
    shutil.copy(folder / "sbom.cdx.json", out / f"{name}.cdx.json")
    made = sorted({Path(path) for path in made} | {out / f"{name}.cdx.json"})
    lines = [f"{digest(path)}  {path.name}\n" for path in made]
    (out / f"labapp-{version}.sha256").write_text("".join(lines), "utf-8")
    size = {"folder": size_of(folder), "archive": archive.stat().st_size}
    for path in made:
        say(f"{path.stat().st_size / 1e6:7.1f} MB  {path}")
    say(f"{size['folder'] / 1e6:7.1f} MB  unpacked, in {folder}")
    if large := [kind for kind, most in LARGEST.items() if size[kind] > most]:
        raise PackageError(f"Too large: {', '.join(large)}.")


def say(words: str) -> None:
    print(words, flush=True)


def run(*command: str | Path, quiet: bool = False, **environment: str) -> None:
    done = subprocess.run(
        [str(part) for part in command],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL if quiet else None,
        check=False,
    )
    if done.returncode and not quiet:
        raise PackageError(f"{Path(command[0]).name} ended with {done.returncode}.")


def build_wheels(out: Path) -> Path:
    """labapp's wheel with its documentation, and those of its models."""
    for project in (ROOT / "pyproject.toml", *sorted(ROOT.glob("scripts/wheels/*/pyproject.toml"))):
        command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(out)]
        run(*command, project.parent)
    return out


# --- The interpreter ------------------------------------------------------------------------------


def copy_interpreter(python: Path) -> list[Library]:
    """The interpreter that runs this, where it can be moved; returns the system's libraries that
    went with it."""
    standard = Path(sysconfig.get_path("stdlib"))
    target = python / "lib" / PYTHON
    (python / "bin").mkdir(parents=True)
    shutil.copytree(
        standard, target, ignore=trim.interpreter_ignores(trim.STANDARD_LIBRARY), symlinks=False
    )
    (target / "site-packages").mkdir()
    if not (target / "LICENSE.txt").is_file():
        raise PackageError(f"{standard} has no licence.")
    program = python / "bin" / PYTHON
    shutil.copy(Path(getattr(sys, "_base_executable", sys.executable)).resolve(), program)
    (python / "bin" / "python3").symlink_to(PYTHON)
    # Where it was built is nobody's business, and is not there.
    for file in target.glob("_sysconfigdata*.py"):
        file.write_text(file.read_text("utf-8").replace(sys.base_prefix, "/opt/labapp/python"))
    libraries = {}
    for file in (program, *(target / "lib-dynload").glob("*.so")):
        libraries.update(elf.resolved(file))
    taken = []
    for soname, path in sorted(libraries.items()):
        shutil.copy(path, python / "lib" / soname)
        if not path.is_relative_to(sys.base_prefix) or sys.base_prefix == "/usr":
            taken.append(Library(path, *owner(path)))
    patchelf = Path(sys.executable).with_name("patchelf")
    for file in elf.elves(python):
        up = os.path.relpath(python / "lib", file.path.parent)
        file.path.chmod(0o755)
        run("strip", "--strip-unneeded", file.path)
        run(patchelf, "--set-rpath", f"$ORIGIN/{up}", file.path)
    return taken


def install(python: Path, wheels: list[Path]) -> None:
    """labapp, its models, what it needs, and pip for its extras."""
    command = [sys.executable, "-m", "pip", "--python", str(python / "bin" / "python3")]
    command += ["--quiet", "install", "--no-compile", "--no-warn-script-location"]
    command += ["--ignore-installed", "--constraint", str(ROOT / "constraints.txt"), "pip"]
    run(*command, *wheels, PYTHONNOUSERSITE="1")
    # They name their interpreter by its full path, which is another one soon.
    for script in (python / "bin").iterdir():
        if script.name not in {PYTHON, "python3"}:
            script.unlink()


def compile_what_is_used(folder: Path, work: Path) -> None:
    """Compile the modules that a whole session, its export and its report use: the folder may lie
    where its user cannot write. Of the others nobody would notice it."""
    compiled = work / "compiled"
    shown = {
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(compiled),
    }
    homes = {name: str(work / "home") for name in ("HOME", "LABAPP_DATA", "LABAPP_PRIVATE")}
    for command in (["demo", "--out", str(work / "demo")], ["extras"], ["doctor"]):
        # Doctor may find that this machine has no microphone.
        run(folder / "labapp", *command, quiet=command == ["doctor"], **shown, **homes)
    below = compiled / str(folder.resolve()).lstrip("/")
    names = "\n".join(
        str(folder / path.relative_to(below).with_name(f"{path.name.partition('.')[0]}.py"))
        for path in below.rglob("*.pyc")
    )
    if not names:
        raise PackageError("The demonstration did not say which modules it used.")
    program = [str(folder / "python/bin/python3"), "-m", "compileall"]
    subprocess.run(
        [*program, "-q", "-j", "2", "-i", "-", "--invalidation-mode", "unchecked-hash"],
        input=names, text=True, check=True,
    )  # fmt: skip


# --- What the package says of itself --------------------------------------------------------------


def describe(folder: Path, site: Path, version: str, taken: list[Library]) -> None:
    python = ".".join(map(str, sys.version_info[:3]))
    files = list(elf.elves(folder))
    outside = elf.from_outside(files)
    if broken := sorted(
        name
        for name in outside
        if name.startswith(("libQt6", "libarrow", "libp"))
        and not name.startswith(("libpthread", "libpulse"))
    ):
        raise PackageError(f"Left out, and still loaded: {', '.join(broken)}.")
    outside = {name for name in outside if not elf.SYSTEM.fullmatch(name)}
    debian = sorted(filter(None, {package_of(name) for name in outside}))
    write_licences(folder / "licences", site, folder / "python" / "lib" / PYTHON, taken)
    versions = {each.metadata["Name"]: each.version for each in installed(site)}
    qt = versions["PySide6_Essentials"]
    (folder / "licences" / "QT.txt").write_text(
        filled("QT.txt", {
            "WHEELS": f"PySide6-Essentials {qt} and shiboken6 {versions['shiboken6']}",
            "PYTHON": PYTHON, "QT": qt, "QTSERIES": qt.rpartition(".")[0],
        }), "utf-8",
    )  # fmt: skip
    glibc = elf.newest_glibc(files)
    write_json(folder / "sbom.cdx.json", bill_of_materials(version, python, site, taken))
    write_json(folder / "package.json", {
        "name": "labapp", "version": version, "system": "linux-x64", "python": python,
        "glibc": glibc, "system_libraries": sorted(outside), "debian_packages": debian,
        "distributions": versions,
    })  # fmt: skip
    shutil.copy(HERE / "labapp.sh", folder / "labapp")
    shutil.copy(ROOT / "assets" / "icon.svg", folder / "labapp.svg")
    (folder / "README.txt").write_text(
        filled("README.txt", {
            "VERSION": version, "GLIBC": glibc,
            "LIBRARIES": "\n".join(f"  {name}" for name in sorted(outside)),
            "PACKAGES": " ".join(["libportaudio2", *debian]),
        }), "utf-8",
    )  # fmt: skip
    say(f"it needs glibc {glibc} and {len(outside)} libraries of the system")


def package_of(soname: str) -> str:
    """The Debian package of a library of this machine; empty where it is not here."""
    done = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        name, _, path = line.strip().partition(" => ")
        if name.partition(" ")[0] == soname and "x86-64" in name:
            return owner(Path(path).resolve())[0] or owner(Path(path))[0]
    return ""


# --- What is given away ---------------------------------------------------------------------------


def pack(parent: Path, name: str, archive: Path, level: str) -> None:
    run(
        "tar", "--create", "--sort=name", f"--mtime=@{EPOCH}", "--owner=0", "--group=0",
        "--numeric-owner", f"--use-compress-program=zstd -{level} -T0 --long=27 --force",
        "--file", archive, "--directory", parent, name,
    )  # fmt: skip


def debian(work: Path, folder: Path, package: Path, version: str, level: str) -> Path:
    import json

    root = work / "debian"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "opt").mkdir()
    folder.rename(root / "opt" / "labapp")
    try:
        placed = root / "opt" / "labapp"
        described = json.loads((placed / "package.json").read_text("utf-8"))
        control = filled("control", {
            "VERSION": version, "GLIBC": described["glibc"],
            "SIZE": str(round(size_of(placed) / 1024)),
            "DEPENDS": ", ".join(["libportaudio2", *described["debian_packages"]]),
        })  # fmt: skip
        (root / "DEBIAN" / "control").write_text(control, "utf-8")
        shutil.copy(HERE / "postrm", root / "DEBIAN" / "postrm")
        shares = root / "usr" / "share"
        for source, target in (
            (HERE / "labapp.desktop", shares / "applications" / "labapp.desktop"),
            (placed / "labapp.svg", shares / "icons/hicolor/scalable/apps/labapp.svg"),
            (ROOT / "LICENSE", shares / "doc" / "labapp" / "copyright"),
        ):
            target.parent.mkdir(parents=True)
            shutil.copy(source, target)
        (root / "usr" / "bin").mkdir()
        (root / "usr" / "bin" / "labapp").symlink_to("/opt/labapp/labapp")
        run(
            "dpkg-deb", "--root-owner-group", "-Zzstd", f"-z{level}", "--build", root, package,
            quiet=True, SOURCE_DATE_EPOCH=EPOCH,
        )  # fmt: skip
    finally:
        (root / "opt" / "labapp").rename(folder)
    return package


def size_of(folder: Path) -> int:
    return sum(
        path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    )


def digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


main()
