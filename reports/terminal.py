"""Trees and Markdown as text of a fixed width, through rich, which is imported only here."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING

from reports.derivation import Step
from reports.diagram import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.tree import Tree

WIDTH = 100

_STYLES = {"error": "red", "warning": "yellow", "good": "green", "bold": "bold", "dim": "dim"}


def tree_text(step: Step, color: bool) -> str:
    """A derivation tree, wrapped at `WIDTH` columns."""
    return _text(lambda: _tree(step), color)


def markdown_text(markdown: str, color: bool) -> str:
    """Markdown as a terminal shows it, wrapped at `WIDTH` columns."""

    def page() -> RenderableType:
        from rich.markdown import Markdown

        return Markdown(markdown, hyperlinks=color)

    return _text(page, color)


def _tree(step: Step) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(printable(step.text), style=_STYLES.get(step.style, "")), guide_style="dim")
    for child in step.children:
        tree.children.append(_tree(child))
    return tree


def _text(renderable: Callable[[], RenderableType], color: bool) -> str:
    from rich.console import Console

    console: Console = Console(
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
        console.print(renderable())
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
