"""The help of every command."""

from __future__ import annotations

from tests.support.command_line import call


def test_help_teaches_every_command() -> None:
    overview = call("--help").output
    for command in ("check", "explain", "compile", "run", "demo"):
        assert f"streambound {command}" in overview
        assert call(command, "--help").exit_code == 0
