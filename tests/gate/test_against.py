"""`check --against`: what became of queries between two git states, who is to blame, and what fails."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streambound import cli
from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.globs import matches
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict
from streambound.gate.transitions import transitions
from streambound.reports.beside import ChangeKind
from streambound.reports.outcome import BoundText, Outcome, outcome
from support.git import commit, git
from support.profiles import MORE

CATALOG = """\
queries = ["queries/**/*.sql"]

[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }

[streams.T]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
domain.a = [0, 9]

[relations.R]
columns = { a = "bigint" }
"""
OF_T = "SELECT T.a FROM S, T WHERE S.ts > T.ts"
OF_S = "SELECT S.a FROM S, T WHERE S.ts > T.ts"
UNBOUNDED = "SELECT T.b FROM S, T WHERE S.ts > T.ts"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "queries").mkdir()
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "main")
    (tmp_path / "streams.toml").write_text(CATALOG)
    write("of_t.sql", OF_T)
    write("of_s.sql", OF_S)
    commit()
    return tmp_path


def write(name: str, text: str) -> None:
    path = Path("queries") / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def edit_catalog(old: str, new: str) -> None:
    path = Path("streams.toml")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def call(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, ["check", "--no-repairs", *arguments])


def changes(result: Result) -> list[str]:
    return re.findall(r"^  (\w+: \w+) in", result.stderr, flags=re.M)


def test_nothing_changed(project: Path) -> None:
    result = call("--against", "HEAD")
    assert (result.exit_code, changes(result)) == (0, [])
    assert "against HEAD: 2 same" in result.stderr


def test_a_query_that_nobody_touched_is_blamed_on_the_line_of_the_catalog(project: Path) -> None:
    edit_catalog("domain.a = [0, 9]\n", "")
    edit_catalog('columns = { a = "bigint", b = "bigint", ts = "bigint" }\n\n[streams.T]', 'columns = { a = "int", b = '
                 '"bigint", ts = "bigint" }\n\n[streams.T]')  # fmt: skip
    result = call("--against", "HEAD")
    assert (result.exit_code, changes(result)) == (1, ["worse: of_t"])
    assert (
        "SB421 got-worse]: of_t was bounded at HEAD and is unbounded, because the domain of T.a is not declared, was "
        in (result.stdout)
    )
    line = Path("streams.toml").read_text().splitlines().index("[streams.T]") + 3
    assert f" --> streams.toml:{line}:1" in result.stdout
    assert f'{line} | columns = {{ a = "bigint"' in result.stdout
    assert " ::: queries/of_t.sql:1:1" in result.stdout
    assert "- of_t, which nobody touched" in result.stdout
    assert "S.a is int" not in result.stdout


BREAKING = {
    "domain narrowed to a half line": ("domain.a = [0, 9]\n", "", "the domain of T.a is not declared, was [0, 9]"),
    "type changed": ('a = "bigint", b = "bigint", ts = "bigint" }\ndomain.a = [0, 9]',
                     'a = "double", b = "bigint", ts = "bigint" }\ndomain.a = [0.0, 9.0]', "T.a is double, was bigint"),
    "column renamed": ('a = "bigint", b = "bigint", ts = "bigint" }\ndomain.a = [0, 9]',
                       'aa = "bigint", b = "bigint", ts = "bigint" }\ndomain.aa = [0, 9]',
                       "T.a is not declared any more"),
    "stream renamed": ("[streams.T]", "[streams.TT]", "T is not declared any more"),
    "other timestamp": ('[streams.T]\ntimestamp = "ts"', '[streams.T]\ntimestamp = "b"', "T.timestamp is b, was ts"),
}  # fmt: skip


@pytest.mark.parametrize("case", BREAKING.values(), ids=BREAKING.keys())
def test_every_kind_of_edit_is_blamed(project: Path, case: tuple[str, str, str]) -> None:
    old, new, message = case
    edit_catalog(old, new)
    edit_catalog("[relations.R]", "[relations.Q]\ncolumns = { x = 'bigint' }\n[relations.R]")
    result = call("--against", "HEAD")
    assert (result.exit_code, "worse: of_t" in changes(result)) == (1, True)
    assert message in result.stdout, result.stdout


def test_of_several_edits_only_those_that_matter_are_blamed(project: Path) -> None:
    write("both.sql", "SELECT T.a, T.b AS b FROM S, T WHERE S.ts > T.ts")
    edit_catalog("domain.a = [0, 9]", "domain.a = [0, 9]\ndomain.b = [0, 9]\nmax_per_timestamp = 7")
    commit()
    edit_catalog("\ndomain.b = [0, 9]\nmax_per_timestamp = 7", "")
    result = call("--against", "HEAD", "queries/both.sql")
    assert changes(result) == ["worse: both"]
    assert "the domain of T.b is not declared, was [0, 9]" in result.stdout
    assert "max_per_timestamp" not in result.stdout
    assert "the domain of T.a" not in result.stdout


def test_a_bound_that_grew_is_a_warning(project: Path) -> None:
    edit_catalog("[0, 9]", "[0, 99]")
    result = call("--against", "HEAD")
    assert (result.exit_code, changes(result)) == (0, ["grew: of_t"])
    assert (
        "SB422 bound-grew]: the bound of of_t grew from 11 to 101 (+1.6 kB) since HEAD, because the domain of T.a"
        in result.stdout
    )
    assert call("--against", "HEAD", "--fail-on", "warning").exit_code == 1
    assert call("--against", "HEAD", "--fail-on", "warning", "--transitions-only").exit_code == 1
    commit()
    edit_catalog("[0, 99]", "[0, 9]")
    assert changes(call("--against", "HEAD")) == ["shrank: of_t"]


def test_a_bound_that_grew_in_bytes_alone_is_a_warning(project: Path) -> None:
    edit_catalog('{ a = "bigint", b = "bigint", ts = "bigint" }\ndomain.a = [0, 9]', '{ a = "string", ts = "bigint" }\n'
                 'domain.a = ["x", "y"]')  # fmt: skip
    commit()
    edit_catalog('"y"]', f'"{"y" * 1000}"]')
    found = call("--against", "HEAD").stdout
    assert "the bound of of_t grew from 54 B to 3.1 kB (+3 kB) since HEAD, because the domain of T.a" in found


def test_an_edited_query_that_got_worse_is_blamed_itself(project: Path) -> None:
    write("of_t.sql", "SELECT T.a, T.b AS b FROM S, T WHERE S.ts > T.ts")
    result = call("--against", "HEAD")
    assert (result.exit_code, changes(result)) == (1, ["worse: of_t"])
    assert " ::: queries/of_t.sql:1:1" in result.stdout
    assert "- the query at HEAD" in result.stdout


@pytest.mark.parametrize("staged", [True, False])
def test_a_renamed_file_is_followed(project: Path, staged: bool) -> None:
    Path("queries/new").mkdir()
    write("of_s.sql", "-- orders and alerts\n" * 20 + OF_S)
    commit()
    Path("queries/of_t.sql").rename("queries/new/levels.sql")
    Path("queries/of_s.sql").rename("queries/of_u.sql")
    write("of_u.sql", "-- orders and alerts\n" * 20 + UNBOUNDED)
    if staged:
        git("add", "-A")
    result = call("--against", "HEAD")
    expected = ["worse: of_u"] if staged else ["new: of_u", "removed: of_s"]
    assert changes(result) == expected, "without git add, an edited file that was moved is another one"
    assert result.exit_code == 1


def test_a_statement_that_moved_to_another_file_is_the_same_one(project: Path) -> None:
    write("many.sql", f"-- name: one\n{OF_T};\n-- name: two\n{OF_S};\n{UNBOUNDED};\n{OF_T} AND S.a = 1")
    commit()
    write("many.sql", f"{OF_S} AND S.a = 3;\n-- name: two\n{OF_S} AND S.b = 1;\n{OF_T} AND S.a = 1")
    write("other.sql", f"{UNBOUNDED};\n-- name: one\n{OF_T}")
    result = call("--against", "HEAD")
    assert "against HEAD: 1 new, 6 same" in result.stderr, result.stderr


def test_new_and_removed_queries(project: Path) -> None:
    Path("queries/of_s.sql").unlink()
    write("of_v.sql", UNBOUNDED)
    result = call("--against", "HEAD")
    assert (result.exit_code, changes(result)) == (1, ["new: of_v", "removed: of_s"])
    write("of_v.sql", f"{OF_S} AND S.a = 4")
    assert call("--against", "HEAD", "--transitions-only").exit_code == 0


def test_only_transitions_fail_when_asked(project: Path) -> None:
    write("old.sql", UNBOUNDED)
    commit()
    assert call("--against", "HEAD").exit_code == 1
    assert call("--against", "HEAD", "--transitions-only").exit_code == 0
    write("new.sql", f"{UNBOUNDED} AND S.a = 1")
    assert call("--against", "HEAD", "--transitions-only").exit_code == 1
    write("new.sql", f'-- streambound: allow SB201 reason="x"\n{UNBOUNDED} AND S.a = 1')
    assert call("--against", "HEAD", "--transitions-only").exit_code == 0
    commit()
    write("new.sql", f"{UNBOUNDED} AND S.a = 1")
    result = call("--against", "HEAD", "--transitions-only")
    assert (result.exit_code, changes(result)) == (1, ["worse: new"]), "what was accepted is not any more"
    write("new.sql", "SELECT")
    assert call("--against", "HEAD", "--transitions-only").exit_code == 3


def test_what_is_accepted_did_not_get_worse(project: Path) -> None:
    write("of_t.sql", f'-- streambound: allow SB201 reason="x"\n{UNBOUNDED}')
    result = call("--against", "HEAD")
    assert (result.exit_code, changes(result)) == (0, [])


def test_what_a_baseline_knows_is_accepted_in_both_states(project: Path) -> None:
    write("old.sql", UNBOUNDED)
    commit()
    assert CliRunner().invoke(cli.main, ["baseline", "create"]).exit_code == 0
    result = call("--against", "HEAD", "--baseline", "streambound-baseline.json")
    assert (result.exit_code, changes(result)) == (0, [])
    edit_catalog("domain.a = [0, 9]\n", "")
    result = call("--against", "HEAD", "--baseline", "streambound-baseline.json", "--transitions-only")
    assert (result.exit_code, changes(result)) == (1, ["worse: of_t"])


def test_paths_and_other_directories(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit_catalog("domain.a = [0, 9]\n", "")
    Path("queries/of_s.sql").unlink()
    monkeypatch.chdir("queries")
    assert changes(call("--against", "HEAD", "of_t.sql")) == ["worse: of_t"]
    assert changes(call("--against", "HEAD", ".")) == ["worse: of_t", "removed: of_s"]
    assert changes(call("--against", "HEAD")) == ["worse: of_t", "removed: of_s"]


def test_a_broken_catalog_then_makes_its_queries_new(project: Path) -> None:
    edit_catalog('queries = ["queries/**/*.sql"]', "queries = 3")
    commit()
    edit_catalog("queries = 3", 'queries = ["queries/**/*.sql"]')
    result = call("--against", "HEAD")
    assert (result.exit_code, changes(result)) == (0, ["new: of_s", "new: of_t"])
    assert "the catalog of HEAD cannot be used, so its queries count as new: streams.toml:1" in result.stderr


def test_neither_work_tree_nor_index_is_touched(project: Path) -> None:
    Path("queries/of_t.sql").rename("queries/new.sql")
    git("add", "queries/new.sql")
    write("untracked.sql", OF_S)
    before = (Path(".git/index").read_bytes(), git("status", "--porcelain"), git("stash", "list"))
    call("--against", "HEAD")
    assert (Path(".git/index").read_bytes(), git("status", "--porcelain"), git("stash", "list")) == before


# --- errors ----------------------------------------------------------------------------------------------------


def test_a_shallow_clone_says_what_to_fetch(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = git("rev-parse", "HEAD").strip()
    write("of_s.sql", f"{OF_S} AND S.a = 1")
    commit()
    git("clone", "-q", "--depth", "1", f"file://{project}", str(project / "clone"))
    monkeypatch.chdir(project / "clone")
    assert call("--against", "HEAD").exit_code == 0
    for ref in (first, "HEAD~1", "origin/release"):
        result = call("--against", ref)
        assert result.exit_code == 2
        assert f"{ref} is not in this clone, which is shallow" in result.stderr
        assert "git fetch --unshallow" in result.stderr and "fetch-depth: 0" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "nowhere"], "there is no commit nowhere"),
        (["--against", ""], "'' names no commit"),
        (["--against", "--all"], "names no commit"),
        (["--transitions-only"], "--transitions-only needs another state"),
        (["--against", "HEAD", "--diff"], "--against compares the files as they are"),
    ],
)
def test_wrong_usage_is_an_error(project: Path, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(cli.main, ["check", *arguments])
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_outside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    Path("streams.toml").write_text(CATALOG)
    Path("q.sql").write_text(OF_S)
    result = call("q.sql", "--against", "HEAD")
    assert (result.exit_code, "not a git repository" in result.stderr) == (2, True)


# --- the parts -------------------------------------------------------------------------------------------------


def item(verdict: Verdict, bound: BoundText | None = None, sql: str = "SELECT 1", file: str = "q.sql") -> Outcome:
    source = SourceText(file, sql)
    return Outcome("q", source, source.span(0, len(sql)), verdict, (), bound=bound)


def test_verdicts_are_ordered() -> None:
    order = [Verdict.BOUNDED, Verdict.UNKNOWN, Verdict.UNBOUNDED, Verdict.UNSUPPORTED, Verdict.ERROR]
    for (i, before), (k, after) in itertools.product(enumerate(order), repeat=2):
        (found,) = transitions([item(before)], [item(after)], {})
        assert found.change is (ChangeKind.SAME if i == k else ChangeKind.WORSE if k > i else ChangeKind.BETTER)


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (BoundText("3", 3), BoundText("4", 4), ChangeKind.GREW),
        (BoundText("4", 4), BoundText("3", 3), ChangeKind.SHRANK),
        (BoundText("4", 4, 32), BoundText("4", 4, 68), ChangeKind.GREW),
        (BoundText("4", 4, 32), BoundText("3", 3, 68), ChangeKind.SHRANK),
        (BoundText("4", 4, 32), BoundText("4", 4), ChangeKind.SAME),
        (BoundText("c_S", None), BoundText("c_S", None), ChangeKind.SAME),
        (BoundText("c_S", None), BoundText("2*c_S", None), ChangeKind.GREW),
        (BoundText("2*c_S", None), BoundText("c_S + 1", None), ChangeKind.SHRANK),
        (BoundText("c_S + c_T", None), BoundText("c_S*c_T", None), ChangeKind.GREW),
        (BoundText("rows_R + 1", None), BoundText("1 + rows_R", None), ChangeKind.SAME),
        (BoundText("5", 5), BoundText("c_S", None), ChangeKind.GREW),
        (BoundText(), BoundText("5", 5), ChangeKind.SHRANK),
        (BoundText("5", 5), BoundText(), ChangeKind.GREW),
    ],
)
def test_bounds_are_compared(old: BoundText, new: BoundText, change: ChangeKind) -> None:
    (found,) = transitions([item(Verdict.BOUNDED, old)], [item(Verdict.BOUNDED, new)], {})
    assert found.change is change


@pytest.mark.parametrize("seed", range(25 * MORE))
def test_every_statement_is_in_one_transition_and_equal_texts_are_paired(seed: int) -> None:
    choose = random.Random(seed)
    texts = [f"SELECT {i}" for i in range(4)]

    def state() -> list[Outcome]:
        return [
            item(Verdict.BOUNDED, None, choose.choice(texts), choose.choice(["a.sql", "b.sql"]))
            for _ in range(choose.randint(0, 6))
        ]

    old, new = state(), state()
    found = transitions(old, new, choose.choice([{}, {"a.sql": "b.sql", "b.sql": "a.sql"}]))
    assert [t.new for t in found if t.new is not None] == new
    assert sorted(id(t.old) for t in found if t.old is not None) == sorted(map(id, old))
    for text in texts:
        both = min(sum(one.source.text == text for one in side) for side in (old, new))
        same = sum(
            t.old is not None and t.new is not None and not t.touched and t.new.source.text == text for t in found
        )
        assert same == both


@pytest.mark.parametrize("pattern", ["*.sql", "**/*.sql", "q/**/*.sql", "q/*/x?.sql", "q/[ab]*.sql", "q/**", "**/b/*",
                                     "q/[!a]*.sql", "./q/*.sql"])  # fmt: skip
def test_patterns_match_what_pathlib_finds(pattern: str, tmp_path: Path) -> None:
    names = ["a.sql", "q/a.sql", "q/b.sql", "q/b/x1.sql", "q/b/c/x22.sql", "q/a/b/n.txt", "r/[ab].sql"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.glob(pattern) if path.is_file()}
    if pattern.endswith("**"):  # pathlib's finds directories only
        found = {name for name in names if name.startswith("q/")}
    assert {name for name in names if matches(pattern, name)} == found


def test_the_catalog_used_here_bounds_what_it_should() -> None:
    verdicts = [check_source(SourceText("q.sql", sql), parse_catalog(CATALOG))[0] for sql in (OF_T, OF_S, UNBOUNDED)]
    assert [outcome(one).verdict for one in verdicts] == ["bounded", "bounded", "unbounded"]
