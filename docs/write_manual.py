"""Write the manual pages, from the command line's own help: python docs/write_manual.py DIR."""

from __future__ import annotations

import sys
from pathlib import Path

from click_man.core import write_man_pages

from streambound import cli
from streambound.analyzer.version import __version__


def write_manual(directory: Path) -> None:
    """One page for streambound and one for each command."""
    directory.mkdir(parents=True, exist_ok=True)
    # click-man goes through the commands that are loaded; these are loaded when they are called.
    cli.main.commands = {command.name: command.load() for command in cli.COMMANDS}
    write_man_pages("streambound", cli.main, version=__version__, target_dir=str(directory))


if __name__ == "__main__":
    write_manual(Path(sys.argv[1]))
