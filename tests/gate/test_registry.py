"""The registry example: 840 queries, gated as a platform team would."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound import cli

REGISTRY = Path(__file__).parents[2] / "examples" / "registry"


@pytest.mark.slow
def test_every_statement_is_counted_and_the_gate_passes_until_a_query_gets_worse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the generated statements those that the baseline accepts, and every tenth of the others."""
    shutil.copytree(REGISTRY, tmp_path / "registry")
    monkeypatch.chdir(tmp_path / "registry")
    baseline = json.loads(Path("streambound-baseline.json").read_text(encoding="utf-8"))
    accepted = {finding["file"] for finding in baseline["findings"]}
    for number, file in enumerate(sorted(Path("generated").rglob("*.sql"))):
        if number % 10 and str(file) not in accepted:
            file.unlink()
    command = ["check", "--baseline", "streambound-baseline.json", "--no-repairs", "-j2"]
    result = CliRunner().invoke(cli.main, [*command, "--format", "json"])
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert len(report["queries"]) == sum(report["summary"].values()) > 120
    unbounded = {query["file"] for query in report["queries"] if query["verdict"] != "bounded"}
    assert unbounded > accepted, "others are accepted in their own text"
    assert len(unbounded) == report["summary"]["unbounded"] == 20
    assert {query["file"] for query in report["queries"]} == {str(path) for path in Path().rglob("*.sql")}
    query = Path("payments/settled_in_order.sql")
    text = query.read_text(encoding="utf-8")
    query.write_text(text.replace(" AND c.ts BETWEEN a.ts AND a.ts + 1800", " AND c.ts >= a.ts"), encoding="utf-8")
    result = CliRunner().invoke(cli.main, command)
    assert result.exit_code == 1
    assert "settled_in_order: unbounded" in result.output


def test_the_generated_part_is_what_the_generator_writes(tmp_path: Path) -> None:
    shutil.copy(REGISTRY / "generate.py", tmp_path)
    subprocess.run([sys.executable, str(tmp_path / "generate.py")], check=True)
    written = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(written) == 802, "the catalog, the queries and the generator"
    assert all((REGISTRY / path).read_bytes() == content for path, content in written.items())
