"""Commands import what they use: a check, and an explanation, nothing heavy."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

from streambound.gate.cache import PACKAGES
from support.command_line import BOUNDED, ROOT, write


def test_checking_imports_nothing_heavy() -> None:
    program = (
        "import sys; sys.argv = ['streambound', 'check', 'examples/figure2/figure2.sql']\n"
        "from streambound import cli\n"
        "try: cli.main()\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "heavy = {'pyspark', 'py4j', 'sympy', 'networkx', 'numpy', 'pandas', 'pyarrow', 'rich', 'duckdb'}\n"
        "loaded = heavy & {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_in_the_cache_is_told_without_a_parser(project: Path) -> None:
    write(project, BOUNDED)
    program = (
        "import sys; sys.argv = ['streambound', 'check', 'q.sql']\n"
        "from streambound import cli\n"
        "try: cli.main()\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "print('sqlglot' in sys.modules)\n"
    )
    command = [sys.executable, "-c", program]
    runs = [subprocess.run(command, cwd=project, capture_output=True, text=True, check=True) for _ in range(2)]
    assert [run.stdout.splitlines()[-1] for run in runs] == ["True", "False"]
    assert runs[0].stdout.splitlines()[:-1] == runs[1].stdout.splitlines()[:-1]


def test_the_cache_knows_all_that_a_check_imports(project: Path) -> None:
    """An outcome is not kept when one of these files has changed."""
    table = 'timestamp = "vb"\ncolumns = { n = "string", vb = "bigint", ve = "bigint" }\nperiod = ["vb", "ve"]\n'
    write(project, f"[streams.s]\n{table}", "streams.toml")
    write(project, "SEQ VT (SELECT COUNT(*) AS c FROM s GROUP BY n)")
    program = (
        "import sys; sys.argv = ['streambound', 'check', '--no-cache', 'q.sql']\n"
        "from streambound import cli\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "loaded = [one for name, one in sys.modules.items() if name.startswith('streambound')]\n"
        "print([one.__file__ for one in loaded if one.__file__])\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert "unbounded" in done.stdout, done.stderr
    files = [Path(one).relative_to(ROOT).as_posix() for one in ast.literal_eval(done.stdout.splitlines()[-1])]
    strange = [one for one in files if "/" in one and not one.startswith((*PACKAGES, "commands"))]
    assert len(files) > 100 and not strange, strange


def test_explaining_needs_no_data_library(project: Path) -> None:
    write(project, BOUNDED)
    program = (
        "import sys; sys.argv = ['streambound', 'explain', 'q.sql']\n"
        "from streambound import cli\n"
        "try: cli.main()\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "loaded = {'pyspark', 'sympy', 'networkx', 'numpy', 'duckdb'} & {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded, loaded\n"
    )
    command = [sys.executable, "-c", program]
    environment = os.environ
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
