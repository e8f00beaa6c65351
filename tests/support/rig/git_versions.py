"""Real git of several versions, beside each other: the packages of Debian's suites, unpacked and never installed.

The packages come from the mirror that this machine's own apt is set up with. Each program is started by its own suite's
loader on its own suite's libraries, so that an old git runs on a new machine and a new one on an old.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SUITES = ("bullseye", "bookworm", "trixie", "sid")
"""git 2.30, 2.39, 2.47, and the newest there is."""

OWN = "own"

CACHE = Path(__file__).resolve().parents[3] / ".cache" / "git"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
UNNEEDED = ("perl", "libperl", "liberror-perl", "libdb", "libgdbm", "openssl-", "libc-gconv", "git-man", "gcc-")
APT_SECONDS = 120.0


class SuiteGoneError(Exception):
    """This machine cannot have the suite: no apt, not a Debian, or a mirror that has it no more."""


@dataclass(frozen=True, slots=True)
class UnpackedGit:
    """One suite's git and git-lfs. ``programs`` goes first on PATH."""

    suite: str
    programs: Path
    version: str

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version as numbers, such as (2, 30, 2)."""
        return tuple(int(part) for part in self.version.split()[2].split(".")[:3] if part.isdigit())

    def on_path(self, environ: Mapping[str, str]) -> str:
        """The value of PATH with which this git is the git."""
        return f"{self.programs}{os.pathsep}{environ['PATH']}"


def gits() -> tuple[str, ...]:
    """Return the gits to test with: the suites, and this machine's own where it can have none of them."""
    return SUITES if _release().get("ID") == "debian" else (*SUITES, OWN)


def unpacked(suite: str) -> UnpackedGit:
    """Return a suite's git, downloading and unpacking it once. Raises SuiteGoneError where there is none to be had."""
    if suite == OWN:
        program = Path(shutil.which("git") or "git")
        return UnpackedGit(OWN, program.parent, _version(program))
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = CACHE / suite
    place, done = str(folder.resolve()), folder / "done"
    with _alone(CACHE / f"{suite}.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _unpack(folder, _downloaded(folder / "apt", suite))
            shutil.rmtree(folder / "apt")
        if not done.exists() or done.read_text(encoding="utf-8") != place:  # starters hold paths, and checkouts move
            _write_starters(folder)
            done.write_text(place, encoding="utf-8")
    return UnpackedGit(suite, folder / "bin", _version(folder / "bin" / "git"))


def _version(program: Path) -> str:
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()


def _release() -> dict[str, str]:
    file = Path("/etc/os-release")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {name: value.strip('"') for name, value in (line.split("=", 1) for line in lines if "=" in line)}


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _mirror() -> str:
    """The address of Debian's own packages, as this machine's apt has it."""
    release = _release()
    if release.get("ID") != "debian" or not shutil.which("apt-get"):
        raise SuiteGoneError("this machine is no Debian, so its mirror has no suites of Debian")
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Identifier: Packages"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    wanted = f" {release.get('VERSION_CODENAME', '')} main"
    found = next((line.removesuffix(wanted) for line in listed if line.endswith(wanted)), None)
    if found is None:
        raise SuiteGoneError("this machine's apt names no mirror of Debian's packages")
    return found


def _downloaded(folder: Path, suite: str) -> list[Path]:
    """The packages of git, git-lfs and their libraries. Apt works on lists and a state of its own."""
    for part in ("lists/partial", "cache/archives/partial", "parts"):
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    (folder / "sources.list").write_text(f"deb {signed}{_mirror()} {suite} main\n")
    settings = {
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": folder / "parts",
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "APT::Install-Recommends": "false",
        "APT::Update::Post-Invoke-Success::": "true",
        "Acquire::Retries": "2",
        "Debug::NoLocking": "true",
    }
    apt = ["apt-get", "-q", "-y", *(f"-o{name}={value}" for name, value in settings.items())]
    try:
        subprocess.run(
            [*apt, "update", "-oAPT::Update::Error-Mode=any"], check=True, capture_output=True, timeout=APT_SECONDS
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise SuiteGoneError(f"this machine's mirror has no suite {suite}, or gives no answer") from error
    subprocess.run(
        [*apt, "--download-only", "install", "git", "git-lfs"], check=True, capture_output=True, timeout=APT_SECONDS
    )
    packages = (folder / "cache" / "archives").glob("*.deb")
    return [package for package in sorted(packages) if not package.name.startswith(UNNEEDED)]


def _unpack(folder: Path, packages: list[Path]) -> None:
    if not packages:
        raise RuntimeError(f"apt downloaded nothing into {folder}")
    for package in packages:
        subprocess.run(["dpkg-deb", "--extract", package, folder / "root"], check=True, capture_output=True)


def _write_starters(folder: Path) -> None:
    """Write a script for each program, which starts it by its suite's loader; shell scripts of git stay as they are."""
    root, helpers, programs = folder / "root", folder / "libexec", folder / "bin"
    core = root / "usr" / "lib" / "git-core"
    libraries = sorted({str(path.parent) for path in root.rglob("*.so*") if "/gconv" not in str(path)})
    loader = next(path for path in root.rglob("ld-linux*.so*") if path.exists())
    for made in (helpers, programs):
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
    start = (
        "#!/bin/sh\n"
        f"export GIT_EXEC_PATH='{helpers}' GIT_TEMPLATE_DIR='{root}/usr/share/git-core/templates'\n"
        f"exec '{loader}' --library-path '{':'.join(libraries)}' '%s' \"$@\"\n"
    )
    for program in core.iterdir():
        if program.is_file() and program.read_bytes()[:4] == b"\x7fELF":
            _write_program(helpers / program.name, start % program)
        else:
            (helpers / program.name).symlink_to(program)
    _write_program(helpers / "git", start % (root / "usr" / "bin" / "git"))
    for name in ("git", "git-lfs"):
        _write_program(programs / name, start % (root / "usr" / "bin" / name))


def _write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)
