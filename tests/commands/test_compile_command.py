"""`streambound compile`: which statement, and whether its job is up to date."""

from __future__ import annotations

from pathlib import Path

from support.command_line import BOUNDED, UNBOUNDED, call, write


def test_a_name_that_fits_two_statements_is_refused(project: Path) -> None:
    write(project, f"-- name: x\n{BOUNDED};\n-- name: x\n{UNBOUNDED}")
    result = call("compile", "q.sql", "--name", "x")
    assert result.exit_code == 2
    assert "2 statements are called 'x': q.sql:2, q.sql:4" in result.output


def test_compile_check_says_whether_the_job_is_up_to_date(project: Path) -> None:
    write(project, BOUNDED)
    assert call("compile", "q.sql", "-o", "job.py").exit_code == 0
    written = (project / "job.py").read_bytes()
    result = call("compile", "q.sql", "-o", "job.py", "--check")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "job.py is up to date\n")
    write(project, BOUNDED + " AND S.a = 7")
    result = call("compile", "q.sql", "-o", "job.py", "--check")
    assert result.exit_code == 1
    assert "+#       S.ts > T.ts AND S.a = 7\n" in result.stdout
    assert "error: job.py: the job is out of date: the query changed" in result.stderr
    assert "streambound compile q.sql -o job.py" in result.stderr
    assert (project / "job.py").read_bytes() == written
