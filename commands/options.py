"""What the commands' arguments have in common."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from streambound.analyzer.byte_sizes import parse_bytes
from streambound.analyzer.emission import EmitMode
from streambound.analyzer.engine_profiles import StreamEngine

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_F = TypeVar("_F", bound=Callable[..., Any])


class PathArgument(click.Path):
    """A path; an empty one names nothing, where pathlib would read it as the working directory.

    Whether a file can be read is for its reader to say, as part of the report.
    """

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; fails for an empty one."""
        if value == "":
            self.fail("an empty path names nothing", param, ctx)
        return super().convert(value, param, ctx)


class SizeInBytes(click.ParamType[str]):
    """A size such as ``2 GB``, as it is written."""

    name = "size"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text; fails for one that is no size."""
        if parse_bytes(value) is None:
            self.fail(f"{value!r} is no size in bytes, such as 2 GB or 512 MiB", param, ctx)
        return value


class OutputFile(PathArgument):
    """A file to write: its directory exists, since a new one would more often be a slip than meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The file; fails for a directory, and where its directory is missing."""
        path = Path(super().convert(value, param, ctx))
        if path.is_dir():
            self.fail(f"{path} is a directory, not a file", param, ctx)
        if not path.absolute().parent.is_dir():
            self.fail(f"there is no directory {path.parent}", param, ctx)
        return path


class Folder(PathArgument):
    """A directory that is made where there is none yet."""

    name = "directory"

    def __init__(self, holds: str) -> None:
        super().__init__()
        self.holds = holds

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The directory; fails for a file, and below one."""
        path = Path(super().convert(value, param, ctx))
        file = next((place for place in (path, *path.absolute().parents) if place.is_file()), None)
        if file is not None:
            self.fail(f"{file} is a file: name a directory, which holds {self.holds}", param, ctx)
        return path


class QueryArgument(click.types.StringParamType):
    """A query: its file or its name in the catalog; for some commands also a code. Shells complete files, or codes."""

    def __init__(self, codes: bool = False) -> None:
        self.codes = codes

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The codes that begin so, or else files."""
        from click.shell_completion import CompletionItem

        from streambound.analyzer.codes import Code

        codes = [CompletionItem(code.value) for code in Code if code.startswith(incomplete.upper())]
        return codes if self.codes and incomplete and codes else [CompletionItem(incomplete, type="file")]


def _kept_colors(context: click.Context, _: click.Parameter, color: bool | None) -> bool | None:
    """Apply `--color` to all output; by default there are colours only on a terminal."""
    context.color = color
    return color


def common_options(command: _F) -> _F:
    """Add the options that every command on queries has: --catalog, --color, --debug."""
    options = (
        click.option("--catalog", "catalog_file", type=PathArgument(), metavar="FILE",
                     help="The catalog; by default the nearest streams.toml from the working directory upwards, "
                          "and only where there is none, from each query file upwards."),
        click.option("--color/--no-color", default=None, callback=_kept_colors,
                     help="Colour or not; by default only on a terminal."),
        click.option("--debug", is_flag=True, help="Show a traceback when something fails."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def emit_mode_option(command: _F) -> _F:
    """Add --emit-mode, which replaces a comment ``-- streambound: emit MODE``."""
    return click.option("--emit-mode", type=click.Choice([mode.value for mode in EmitMode]),
                        help="Print changes as they happen, or results once, when they are final; of SEQ VT and SEQ TP "
                             "over streams also fragments or parts of periods, as they become known. By default as a "
                             "comment before the statement says, else changes (SEQ: final).")(command)  # fmt: skip


def engine_option(command: _F) -> _F:
    """Add --engine, which says what runs a job."""
    return click.option("--engine", type=click.Choice(("embedded", "spark")),
                        help="Run in this process, without Java, or on Spark; embedded by "
                             "default, and Spark for what needs it, such as a sink.")(command)  # fmt: skip


def profile_option(command: _F) -> _F:
    """Add --engine, which says whose operators are spoken of beside the verdict."""
    return click.option("--engine", type=click.Choice([engine.value for engine in StreamEngine]),
                        help="Also say what this engine keeps for each query as it is written, what it refuses, and "
                             "what it drops; by default that of the catalog's [engine].")(command)  # fmt: skip


def tick_option(command: _F) -> _F:
    """Add --tick, which says how often changes are printed."""
    return click.option("--tick", type=click.Choice(("batch", "timestamp")), default="batch", show_default=True,
                        help="Print what each micro-batch changes, or each timestamp, which is many times slower; only "
                             "of statements beyond joins.")(command)  # fmt: skip


def colored(color: bool | None) -> bool:
    """Whether to print in colour: by the option, else on a terminal without NO_COLOR."""
    if color is not None:
        return color
    return sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
