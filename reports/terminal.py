"""Trees and Markdown as text of a fixed width, through rich, which is imported only here."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING

from streambound.reports.derivation import Step
from streambound.reports.diagram import printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.tree import Tree

WIDTH = 100

_FILE_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")
_BLANKS = re.compile(r"\n{3,}")

_STYLES = {"error": "red", "warning": "yellow", "good": "green", "bold": "bold", "dim": "dim"}


def tree_text(step: Step, color: bool) -> str:
    """A derivation tree, wrapped at `WIDTH` columns."""
    return _text(_tree(step), color)


def markdown_text(markdown: str, color: bool) -> str:
    """Markdown as a terminal shows it, wrapped at `WIDTH` columns; links to other files are shown by their text."""
    from rich.markdown import Markdown

    return _text(Markdown(_FILE_LINK.sub(r"\1", markdown), code_theme="ansi_dark"), color)


def _tree(step: Step) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(printable(step.text), style=_STYLES.get(step.style, "")), guide_style="dim")
    for child in step.children:
        tree.children.append(_tree(child))
    return tree


def _text(renderable: RenderableType, color: bool) -> str:
    from rich.console import Console

    console = Console(
        file=StringIO(),
        width=WIDTH,
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
        emoji=False,
        markup=False,
        highlight=False,
        _environ={},
    )
    with console.capture() as captured:
        console.print(renderable)
    text = "\n".join(line.rstrip() for line in captured.get().splitlines())
    return text if color else _BLANKS.sub("\n\n", text).strip("\n")
