"""`streambound lsp`: a language server."""

from __future__ import annotations

from pathlib import Path

import click

from streambound.commands.options import PathArgument


@click.command("lsp")
@click.option("--catalog", "catalog_file", type=PathArgument(), metavar="FILE",
              help="The catalog; by default the one that check would find.")  # fmt: skip
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def lsp(catalog_file: Path | None, debug: bool) -> None:
    """Serve editors over standard input and output: findings while typing, verdict and bound on hover, repairs.

    Findings, verdicts and repairs are those of `streambound check`, which checks what the catalog registers, with the
    texts in the editor in place of their files; of a file that is not registered, those of `streambound check FILE`.
    Stale entries are shown in the baseline. The catalog is read from disk: save it to see what it changes. Needs the
    extra `streambound[lsp]`.

    \b
    Neovim      vim.lsp.config.streambound = { cmd = { "streambound", "lsp" }, filetypes = { "sql" } }
    Helix       [language-server.streambound]  command = "streambound"  args = ["lsp"]
    """
    from streambound.analyzer.errors import UsageError

    try:
        from streambound.gate.language_server import language_server
    except ImportError as error:
        raise UsageError("the language server needs pygls", remedy="pip install 'streambound[lsp]'") from error
    language_server(catalog_file).start_io()
