"""`streambound compile`: which statement, which files, and whether a job is up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from streambound.synopsis_exec.job_file import RUNTIME, job_in
from streambound_runtime.zipped import zipped
from support.command_line import BOUNDED, UNBOUNDED, call, write

SEVERAL = f"-- name: first\n{BOUNDED};\n-- name: second\n{BOUNDED} AND S.a = 7"


def files(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_name_that_fits_two_statements_is_refused(project: Path) -> None:
    write(project, f"-- name: x\n{BOUNDED};\n-- name: x\n{UNBOUNDED}")
    result = call("compile", "q.sql", "--name", "x")
    assert result.exit_code == 2
    assert "2 statements are called 'x': q.sql:2, q.sql:4" in result.output


def test_a_job_is_job_py_and_its_runtime(project: Path) -> None:
    write(project, BOUNDED)
    shown = call("compile", "q.sql")
    assert shown.exit_code == 0
    result = call("compile", "q.sql", "-o", "some/job")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("wrote some/job/job.py and its runtime: ")
    written = files(project / "some" / "job")
    assert written == {"job.py": shown.stdout.encode(), RUNTIME: zipped()}
    assert call("compile", "q.sql", "-o", "again").exit_code == 0
    assert files(project / "again") == written


def test_each_of_several_statements_gets_a_directory(project: Path) -> None:
    write(project, SEVERAL)
    assert call("compile", "q.sql", "-o", "jobs").exit_code == 0
    written = files(project / "jobs")
    assert written.keys() == {f"{name}/{file}" for name in ("first", "second") for file in ("job.py", RUNTIME)}
    jobs = [job_in(written[f"{name}/job.py"].decode()) for name in ("first", "second")]
    assert [job.name for job in jobs if job] == ["first", "second"]
    result = call("compile", "q.sql", "-o", "jobs", "--check")
    assert (result.exit_code, result.stderr) == (
        0,
        "jobs/first/job.py is up to date\njobs/second/job.py is up to date\n",
    )
    assert call("compile", "q.sql", "--name", "second", "-o", "one").exit_code == 0
    assert files(project / "one") == {file: written[f"second/{file}"] for file in ("job.py", RUNTIME)}
    write(project, SEVERAL.replace("7", "8"))
    result = call("compile", "q.sql", "-o", "jobs", "--check")
    assert result.exit_code == 1
    assert "jobs/first/job.py is up to date" in result.stderr
    assert "error: jobs/second/job.py: the job is out of date: the query changed" in result.stderr


def test_nothing_is_written_where_one_of_several_cannot_be_compiled(project: Path) -> None:
    write(project, f"{SEVERAL};\n-- name: third\n{UNBOUNDED}")
    assert call("compile", "q.sql", "-o", "jobs").exit_code == 1
    assert not (project / "jobs").exists()


def test_several_statements_are_not_printed_as_one(project: Path) -> None:
    write(project, SEVERAL)
    result = call("compile", "q.sql")
    assert result.exit_code == 2
    assert "--name" in result.stderr


@pytest.mark.parametrize("more", [[], ["--check"]])
def test_a_file_is_no_place_for_a_job(project: Path, more: list[str]) -> None:
    write(project, BOUNDED)
    result = call("compile", "q.sql", "-o", "jobs/job.py", *more)
    assert result.exit_code == 2
    assert "jobs/job.py names a file; a job is a directory" in result.stderr and "-o jobs/job" in result.stderr
    assert not (project / "jobs").exists()


def test_compile_check_says_whether_the_job_is_up_to_date(project: Path) -> None:
    write(project, BOUNDED)
    assert call("compile", "q.sql", "-o", "job").exit_code == 0
    written = files(project / "job")
    result = call("compile", "q.sql", "-o", "job", "--check")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "job/job.py is up to date\n")
    write(project, BOUNDED + " AND S.a = 7")
    result = call("compile", "q.sql", "-o", "job", "--check")
    assert result.exit_code == 1
    assert result.stdout.startswith("--- job/job.py\n+++ compiled now\n")
    added = [line for line in result.stdout.splitlines() if line.startswith("+ ")]
    assert any("where('s_a IS NOT NULL AND s_a = 7')" in line for line in added)
    assert "error: job/job.py: the job is out of date: the query changed" in result.stderr
    assert "streambound compile q.sql -o job" in result.stderr
    assert files(project / "job") == written


def test_compile_check_sees_what_is_missing(project: Path) -> None:
    write(project, BOUNDED)
    result = call("compile", "q.sql", "-o", "job", "--check")
    assert result.exit_code == 3
    assert "error: job/job.py: cannot read the job: " in result.stderr
    assert call("compile", "q.sql", "--check").exit_code == 2
    assert call("compile", "q.sql", "-o", "job").exit_code == 0
    (project / "job" / RUNTIME).unlink()
    result = call("compile", "q.sql", "-o", "job", "--check")
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"the job is out of date: its runtime {RUNTIME} is not beside it" in result.stderr
    (project / "job" / "job.py").write_bytes(b"\xff")
    result = call("compile", "q.sql", "-o", "job", "--check")
    assert result.exit_code == 3 and "the job is not UTF-8 text" in result.stderr


def test_no_name_leads_out_of_the_directory(project: Path) -> None:
    write(project, f"-- name: ../../evil\n{BOUNDED};\n{BOUNDED}")
    result = call("compile", "q.sql", "-o", "sub/jobs")
    assert result.exit_code == 3
    assert "q.sql:1:10: SB001 syntax error: a name is one word of letters, digits, _ and -" in result.stderr
    assert "write -- name: evil" in result.stderr
    write(project, f"INSERT INTO `../../evil` {BOUNDED};\n{BOUNDED}")
    result = call("compile", "q.sql", "-o", "sub/jobs")
    assert result.exit_code == 2
    assert "q.sql:1:13: '../../evil' is no name of a directory" in result.stderr and "-- name: …" in result.stderr
    assert not (project / "sub").exists()


def test_a_file_without_names_has_numbered_directories(project: Path) -> None:
    write(project, f"{BOUNDED};\nINSERT INTO db.t {BOUNDED}")
    assert call("compile", "q.sql", "-o", "jobs").exit_code == 0
    assert {folder.name for folder in (project / "jobs").iterdir()} == {"q-1", "db-t"}


@pytest.mark.parametrize("names", [("-- name: x", "-- name: X"), ("INSERT INTO a.b", "-- name: a-b\n")])
def test_two_statements_have_no_directory_together(project: Path, names: tuple[str, str]) -> None:
    write(project, f"{names[0]}\n{BOUNDED};\n{names[1]}\n{BOUNDED}")
    result = call("compile", "q.sql", "-o", "jobs")
    assert result.exit_code == 2 and "and another statement have one directory" in result.stderr
    assert not (project / "jobs").exists()


def test_names_that_differ_by_case_only_are_a_warning(project: Path) -> None:
    write(project, f"-- name: daily\n{BOUNDED};\n-- name: Daily\n{BOUNDED}")
    result = call("check", "q.sql", "--fail-on", "warning")
    assert result.exit_code == 1
    assert "'Daily' and 'daily' are one directory where case does not count" in result.stdout
