"""`streambound completion`: completes commands and options in a shell."""

from __future__ import annotations

import click

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_STREAMBOUND_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the script that completes streambound's commands and options in SHELL.

    \b
    bash    eval "$(streambound completion bash)"              in ~/.bashrc
    zsh     eval "$(streambound completion zsh)"               in ~/.zshrc
    fish    streambound completion fish > ~/.config/fish/completions/streambound.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click knows the shells offered"
    root = click.get_current_context().find_root().command
    click.echo(found(root, {}, "streambound", _VARIABLE).source())
