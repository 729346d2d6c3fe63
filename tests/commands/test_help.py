"""The help of every command."""

from __future__ import annotations

import pytest

from streambound.cli import COMMANDS
from support.command_line import call


def test_help_teaches_every_command() -> None:
    overview = call("--help").output
    for command in ("check", "explain", "compile", "run", "demo"):
        assert f"streambound {command}" in overview
        assert call(command, "--help").exit_code == 0


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_a_misspelt_command_is_told_which_one_is_meant(name: str) -> None:
    result = call(f"{name[0]}{name[2]}{name[1]}{name[3:]}")
    assert result.exit_code == 2
    assert f"Did you mean '{name}'?" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(["chekc"], "check"), (["check", "--formt", "json"], "--format"), (["baseline", "crate"], "create")],
)
def test_so_are_options_and_commands_of_a_group(arguments: list[str], meant: str) -> None:
    assert f"Did you mean '{meant}'?" in call(*arguments).stderr


def test_what_is_like_nothing_is_not_guessed() -> None:
    assert "Did you mean" not in call("zzz").stderr
