"""Write the manual pages, from the command line's own help: python docs/write_manual.py DIR."""

from __future__ import annotations

import argparse
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", metavar="DIR", type=Path, help="where the manual pages go; made if there is none")
    write_manual(parser.parse_args().directory)
