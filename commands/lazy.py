"""Commands that are imported when they are called, so that `check` pays for no other."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click
from msgspec import Struct

from streambound.commands.failures import guarded


class Command(Struct, frozen=True):
    """A command's name, where it is (``module:function`` of this package), and its line in the help."""

    name: str
    place: str
    summary: str

    def load(self) -> click.Command:
        """The command itself."""
        module, function = self.place.split(":")
        found = getattr(import_module(f"streambound.commands.{module}"), function)
        assert isinstance(found, click.Command), f"{self.place} is no command"
        found.short_help = self.summary
        return found


class Group(click.Group):
    """The command line's commands, in their order; a failure of one becomes a message and an exit status."""

    def __init__(self, *args: Any, commands_by_name: tuple[Command, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = {command.name: command for command in commands_by_name}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the registry."""
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now; None where there is none."""
        return self._lazy[cmd_name].load() if cmd_name in self._lazy else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; a misspelt one fails with the nearest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            from difflib import get_close_matches

            nearest = get_close_matches(error.command_name, self._lazy, n=1)
            raise click.exceptions.NoSuchCommand(error.command_name, possibilities=nearest, ctx=ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list in the help, without importing a command."""
        with formatter.section("Commands"):
            formatter.write_dl([(command.name, command.summary) for command in self._lazy.values()])

    def invoke(self, ctx: click.Context) -> Any:
        """Call a command; an interruption is a message and exit status 130.

        A broken pipe is that of a program that was started: standard output has an exception of its own.
        """
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise OSError(0, "it ended before it was told everything", error.filename) from error
        except KeyboardInterrupt:
            click.echo("streambound: interrupted", err=True)
            sys.exit(130)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the arguments and call a command, as `guarded` says."""
        return guarded(lambda: super(Group, self).main(*args, **kwargs))
