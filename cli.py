"""The command line: the list of commands, each in a file of `commands/`; it decides nothing."""

from __future__ import annotations

import click

from streambound.analyzer.version import __version__
from streambound.commands.lazy import Command, Group

COMMANDS: tuple[Command, ...] = (
    Command("check", "check:check", "Give the verdict of every query."),
    Command("baseline", "baseline:baseline", "Accept the findings that are there; let them only become fewer."),
    Command("catalog", "catalog:catalog", "Import a catalog from another tool, or measure recorded rows."),
    Command("config", "config:config", "Show each setting of a check and where it comes from."),
    Command("recheck", "recheck:recheck_", "Validate the certificates of a JSON report."),
    Command("explain", "explain:explain", "Show how a verdict came about, or explain a code."),
    Command("compile", "compile:compile_", "Write the Spark job of a bounded query."),
    Command("run", "run:run", "Run a bounded query over recorded streams."),
    Command("verify", "verify:verify", "Compare the job of a bounded query with batch SQL."),
    Command("memory", "memory:memory", "Measure whether memory stays constant."),
    Command("watch", "watch:watch", "Compare a running query of Spark or Flink with what was proved."),
    Command("witness", "witness:witness", "Show streams that an unbounded query cannot forget."),
    Command("lsp", "lsp:lsp", "Serve editors: findings, verdicts and repairs as you type."),
    Command("completion", "completion:completion", "Complete commands and options in a shell."),
    Command("demo", "demo:demo", "See all of it on two examples."),
)
"""Each is imported when it is called: a command pays for no other."""


@click.group(
    cls=Group, commands_by_name=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)  # fmt: skip
@click.version_option(__version__, prog_name="streambound")
def main() -> None:
    """Decide whether SQL over streams runs in constant memory, show why, and write the Spark job that does.

    \b
    streambound check queries/             lint every query below a directory
    streambound baseline create            accept the findings that are there, and let them only become fewer
    streambound catalog measure data       suggest rates, lateness and domains from recorded rows
    streambound recheck report.json        validate the certificates in check's JSON report
    streambound explain q.sql              show how a verdict came about
    streambound compile q.sql -o job       write the Spark job of a bounded query
    streambound run q.sql --input DIR      run it over recorded streams
    streambound verify q.sql               compare the job's results with batch SQL
    streambound memory q.sql               measure whether its memory stays constant
    streambound watch q.sql progress.jsonl compare a running query with what was proved
    streambound witness q.sql              show streams that an unbounded query cannot forget
    streambound demo                       see all of it on the paper's example and on real flights

    \b
    Exit status: 0 clean; 1 a query is not bounded or cannot be compiled, or a run broke its bound;
    2 wrong usage or catalog; 3 a file that cannot be read, parsed or written; 4 an internal error;
    130 interrupted; 141 nobody reads the output any more. explain exits 0 whatever the verdict, unless the
    stage asked for does not exist.
    """


if __name__ == "__main__":
    main()
