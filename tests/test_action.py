"""The GitHub action."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

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


def action(project: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the action's check, as the platform would: inputs are defaults and expressions are replaced."""
    definition = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    inputs = {name: str(about.get("default", "")) for name, about in definition["inputs"].items()} | given
    assert set(inputs) == set(definition["inputs"])
    (step,) = (step for step in definition["runs"]["steps"] if step.get("name") == "Check")
    environment = {}
    for name, value in step["env"].items():
        for key, text in inputs.items():
            value = value.replace(f"${{{{ inputs.{key} }}}}", text)
        assert "${{" not in value
        environment[name] = value
    assert "${{" not in step["run"], "an input that is pasted into the script could be a script"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=project / inputs["working-directory"], env={**os.environ, **environment},
        capture_output=True, check=False, text=True,
    )  # fmt: skip


def test_the_action_annotates_and_fails(project: Path) -> None:
    assert action(project).returncode == 0
    (project / "bad one.sql").write_text(UNBOUNDED, encoding="utf-8")
    run = action(project, sarif="out.sarif")
    assert run.returncode == 1
    assert "::error file=bad one.sql,line=1," in run.stdout
    assert "SB201" in (project / "out.sarif").read_text(encoding="utf-8")
    assert action(project, paths="good.sql").returncode == 0
    assert action(project, paths="$(touch hacked)", args="; touch hacked").returncode != 0
    assert not (project / "hacked").exists()
