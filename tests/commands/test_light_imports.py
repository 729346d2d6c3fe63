"""Commands import what they use: a check, and an explanation, nothing heavy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
