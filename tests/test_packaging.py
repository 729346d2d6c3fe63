"""What an installation has, and that no project's own files stand in for it: built, installed and run as users do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
BESIDE = {"tests", "benchmarks", "docs", "examples", "build", "dist"}
"""Folders of the repository that are no part of the package."""
CATALOG = '[streams.S]\ntimestamp = "ts"\ncolumns = { a = "bigint", ts = "bigint" }\n'
UNBOUNDED = "SELECT DISTINCT S.a FROM S\n"

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]


def test_every_folder_with_modules_is_listed_as_a_package() -> None:
    folders = {file.parent.relative_to(ROOT) for file in ROOT.rglob("*.py") if not _hidden(file.relative_to(ROOT))}
    runtime = Path(SETTINGS["package-dir"]["streambound_runtime"])
    inside = {folder for folder in folders if folder.is_relative_to(runtime)}
    names = {".".join(["streambound", *folder.parts]) for folder in folders - inside}
    names |= {".".join(["streambound_runtime", *folder.relative_to(runtime).parts]) for folder in inside}
    assert names == set(SETTINGS["packages"])


def _hidden(file: Path) -> bool:
    return file.parts[0] in BESIDE or any(part.startswith(".") for part in file.parts)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the files that git knows: what else lies about in a tree would get into it."""
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "any name"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in _output(listed, ROOT).rstrip("\0").split("\0"):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tree / name)
    _output([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(tree)], folder)
    (built,) = folder.glob("*.whl")
    return built


def test_a_wheel_has_two_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = [name for name in file.namelist() if not name.split("/")[0].endswith(".dist-info")]
    assert {name.split("/")[0] for name in names} == {"streambound", "streambound_runtime"}
    inside = {name.split("/")[1] for name in names if name.startswith("streambound/")}
    assert not inside & {"tests", "benchmarks", "build"}
    assert {"__init__.py", "__main__.py", "cli.py", "py.typed"} <= inside
    assert {name.split("/")[2] for name in names if name.startswith("streambound/docs/")} == {"codes"}
    assert {name.split("/")[2] for name in names if name.startswith("streambound/examples/")} == {"figure2", "flights"}
    modules = {name for name in names if name.endswith(".py")}
    assert not any("runtime/" in name for name in modules if name.startswith("streambound/"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel; what it depends on is borrowed from the one that runs the tests."""
    home = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(home, symlinks=True)
    _pip(home, "install", "--no-deps", str(wheel))
    borrowed = Path(click.__file__).parents[1]
    (_site(home) / "borrowed.pth").write_text(f"{borrowed}\n", encoding="utf-8")
    return home


def _pip(home: Path, command: str, *arguments: str) -> None:
    """This environment's pip in another one, which needs none of its own."""
    _output([sys.executable, "-m", "pip", "--python", str(home / "bin/python"), command, "--quiet", *arguments], home)


def _site(home: Path) -> Path:
    (found,) = home.glob("lib/python*/site-packages")
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (folder / "q.sql").write_text(UNBOUNDED, encoding="utf-8")
    return folder


def run(home: Path, project: Path, *command: str, path: str | None = ".") -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"PYTHONPATH": path} if path else {}
    return subprocess.run(
        [str(home / "bin" / command[0]), *command[1:]],
        cwd=project, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def finds_it_unbounded(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 1, done.stderr
    assert "error[SB201 unbounded-projection]" in done.stdout
    assert done.stdout.endswith("1 query checked: 1 unbounded\n")


MODULE = "def main():\n    print('checked nothing')\n\nif __name__ == '__main__':\n    main()\n"


@pytest.mark.parametrize(
    "files",
    [
        ["cli.py"],
        ["analyzer/__init__.py", "criteria/__init__.py"],
        ["cli.py", "commands/__init__.py", "commands/check.py", "reports/__init__.py", "gate.py", "preprocess.py"],
    ],
    ids=lambda files: files[0],
)
def test_a_projects_own_files_are_not_ours(installed: Path, project: Path, files: list[str]) -> None:
    for name in files:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(MODULE, encoding="utf-8")
    finds_it_unbounded(run(installed, project, "streambound", "check", "q.sql"))
    finds_it_unbounded(run(installed, project, "python", "-m", "streambound", "check", "q.sql"))


def test_another_distribution_overwrites_nothing(installed: Path, project: Path) -> None:
    other = _site(installed) / "reports"
    other.mkdir()
    (other / "__init__.py").write_text("raise ImportError('of another distribution')\n", encoding="utf-8")
    try:
        finds_it_unbounded(run(installed, project, "streambound", "check", "q.sql", path=None))
    finally:
        shutil.rmtree(other)


@pytest.mark.parametrize("name", ["streambound/__init__.py", "streambound.py"])
def test_another_package_of_this_name_is_refused(installed: Path, project: Path, name: str) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("", encoding="utf-8")
    (project / name).with_name("cli.py").write_text(MODULE, encoding="utf-8")
    done = run(installed, project, "streambound", "check", "q.sql")
    place = project / name.split("/", maxsplit=1)[0]
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"streambound: error: Python finds another package named streambound: {place}\n"
        "  = help: it comes first on Python's path; rename it, or leave its directory out of PYTHONPATH.\n"
        "    Nothing was checked.\n"
    )
    finds_it_unbounded(run(installed, project, "streambound", "check", "q.sql", path=None))


def test_a_folder_of_this_name_without_modules_is_in_nobodys_way(installed: Path, project: Path) -> None:
    (project / "streambound").mkdir()
    finds_it_unbounded(run(installed, project, "streambound", "check", "q.sql"))


def test_an_installation_has_the_pages_and_what_the_demo_needs(installed: Path, project: Path) -> None:
    page = run(installed, project, "streambound", "explain", "SB201", path=None)
    assert page.returncode == 0 and "unbounded-projection" in page.stdout
    program = (
        "from pathlib import Path\n"
        "from streambound.synopsis_exec.demo import scenarios\n"
        "found = list(scenarios(Path('flights')))\n"
        "assert found and all(each.query.is_file() for each in found)\n"
        "assert all((each.query.parent / 'streams.toml').is_file() for each in found)\n"
        "import streambound; print(streambound.__version__)\n"
    )
    done = run(installed, project, "python", "-c", program, path=None)
    assert done.returncode == 0, done.stderr
    version = run(installed, project, "streambound", "--version", path=None)
    assert version.stdout == f"streambound, version {done.stdout}"


def test_uninstalling_leaves_nothing(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, symlinks=True)
    before = set(_site(home).iterdir())
    _pip(home, "install", "--no-deps", str(wheel))
    assert {path.name for path in set(_site(home).iterdir()) - before} > {"streambound", "streambound_runtime"}
    _pip(home, "uninstall", "--yes", "streambound")
    assert set(_site(home).iterdir()) == before
    assert not (home / "bin" / "streambound").exists()


def _output(command: list[str], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
