"""Where people work: the pre-commit hooks, the GitHub action, completion in a shell, the manual pages."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from streambound import cli
from support.catalog_texts import BOUNDED
from support.program import CATALOG, ROOT, UNBOUNDED, install_program


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "good.sql").write_text(BOUNDED, encoding="utf-8")
    programs = tmp_path / "programs"
    install_program(programs)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hooks() -> dict[str, dict[str, Any]]:
    return {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}


@pytest.mark.parametrize(("text", "status"), [(BOUNDED, 0), (UNBOUNDED, 1)])
@pytest.mark.parametrize("hook", ["streambound", "streambound-catalog"])
def test_the_hooks_fail_for_what_is_not_bounded(hook: str, text: str, status: int, project: Path) -> None:
    (project / "new.sql").write_text(text, encoding="utf-8")
    found = hooks()[hook]
    files = ["new.sql"] if found.get("pass_filenames", True) else []
    run = subprocess.run([*shlex.split(found["entry"]), *files], capture_output=True, check=False, text=True)
    assert run.returncode == status, run.stderr


def test_the_hook_leaves_out_what_the_catalog_does_not_register(project: Path) -> None:
    (project / "streams.toml").write_text(CATALOG.replace('"*.sql"', '"queries/*.sql"'), encoding="utf-8")
    (project / "migration.sql").write_text(UNBOUNDED, encoding="utf-8")
    entry = [*shlex.split(hooks()["streambound"]["entry"]), "migration.sql"]
    run = subprocess.run(entry, capture_output=True, check=False, text=True)
    assert (run.returncode, "1 file is left out" in run.stderr) == (0, True)
    assert subprocess.run(["streambound", "check", "migration.sql"], capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_call_what_completes(shell: str, project: Path) -> None:
    script = CliRunner().invoke(cli.main, ["completion", shell]).stdout
    assert f"_STREAMBOUND_COMPLETE={shell}_complete" in script


@pytest.mark.parametrize(
    ("words", "expected"), [("streambound wit", "witness"), ("streambound check --no-c", "--no-cache")]
)
def test_commands_and_options_complete(words: str, expected: str, project: Path) -> None:
    number = str(len(words.split()) - 1)
    variables = {"_STREAMBOUND_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": number}
    run = subprocess.run(["streambound"], env={**os.environ, **variables}, capture_output=True, check=True, text=True)
    assert f"plain,{expected}" in run.stdout.split()


COMPLETED = [
    ("streambound wit", ["witness"]),
    ("streambound baseline cr", ["create"]),
    ("streambound check --format js", ["json", "jsonl"]),
    ("streambound check -o s", ["sarif"]),
    ("streambound explain sb20", [f"SB20{number}" for number in range(1, 10)]),
    ("streambound explain --emit gr", ["graph"]),
]


@pytest.mark.parametrize(("words", "expected"), COMPLETED)
def test_bash_completes_what_is_typed(words: str, expected: list[str], project: Path) -> None:
    script = f"""
        eval "$(streambound completion bash)"
        COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _streambound_completion streambound && printf '%s\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, text=True)
    assert (done.stdout.split(), done.stderr) == (expected, "")


@pytest.mark.parametrize("words", ["check q", "compile q", "run q", "explain q", "witness q", "check --catalog s"])
def test_files_complete_where_files_are_meant(words: str, project: Path) -> None:
    number = str(len(words.split()))
    variables = {"_STREAMBOUND_COMPLETE": "bash_complete", "COMP_WORDS": f"streambound {words}", "COMP_CWORD": number}
    run = subprocess.run(["streambound"], env={**os.environ, **variables}, capture_output=True, check=True, text=True)
    assert run.stdout == f"file,{words[-1]}\n"


def test_there_is_a_manual_page_per_command(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(ROOT / "docs" / "write_manual.py"), str(tmp_path)],
        env=os.environ, check=True,
    )  # fmt: skip
    names = {"streambound.1"} | {f"streambound-{command.name}.1" for command in cli.COMMANDS}
    for command in cli.COMMANDS:
        inner = getattr(command.load(), "commands", {})
        names |= {f"streambound-{command.name}-{name}.1" for name in inner}
    assert {path.name for path in tmp_path.iterdir()} == names
    for command in cli.COMMANDS:
        page = (tmp_path / f"streambound-{command.name}.1").read_text(encoding="utf-8")
        assert command.summary.rstrip(".").replace("-", "\\-") in page.replace("\\-", "-").replace("-", "\\-")
        options = [
            option for parameter in command.load().params for option in parameter.opts if option.startswith("--")
        ]
        assert all(option.replace("-", "\\-") in page for option in options)
