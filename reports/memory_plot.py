"""The measurement of `memory` as a drawing, PNG and SVG: state and Java heap against the tuples read.

Needs matplotlib (the extra ``plot``), imported when it is called. Colours by Okabe and Ito, *Color Universal Design*.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from pathlib import Path
from typing import Any

from streambound.reports.memory_report import own

_JOB, _NATIVE, _INK, _FAINT = "#0072B2", "#D55E00", "#24292f", "#d0d7de"
_MIB = 1024 * 1024

_ENDS = {"stopped": "stopped, its time was up", "out of memory": "out of memory", "failed": "failed"}

Points = Sequence[tuple[float, float]]
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "streambound",
    "axes.edgecolor": "#57606a",
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": "#57606a",
    "ytick.color": "#57606a",
}


def write_plots(found: Any, folder: Path) -> None:
    """``memory.png`` and ``memory.svg``; the same measurement gives the same files."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    with plt.rc_context(_STYLE):
        figure = _figure(plt, found)
        figure.savefig(folder / "memory.png", dpi=200, metadata={"Software": None})
        figure.savefig(folder / "memory.svg", metadata={"Date": None, "Creator": "streambound memory"})
        plt.close(figure)


def _figure(plt: Any, found: Any) -> Any:
    figure, (state, heap) = plt.subplots(1, 2, figsize=(10.4, 4.6), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.06, wspace=0.05)
    native = found.native.samples if found.native is not None else ()
    _state(state, found, native)
    _heap(heap, found, native)
    for axes in (state, heap):
        _axes(axes, max(sample.tuples for sample in (*found.samples, *native)))
    title = f"{found.query}: {found.tuples:,} tuples, {found.stream} streams"
    figure.suptitle(title, x=0.012, ha="left", fontsize=13, fontweight="bold")
    return figure


def _state(axes: Any, found: Any, native: Any) -> None:
    """Entries and state rows, on a logarithmic scale, and M as a dashed line."""
    from matplotlib.ticker import FuncFormatter

    right = max(sample.tuples for sample in (*found.samples, *native))
    _line(axes, [(sample.tuples, max(sample.peak, 1)) for sample in found.samples], _JOB)
    axes.axhline(max(found.limit, 1), color=_INK, lw=1.2, ls=(0, (5, 4)), zorder=3)
    if native:
        points = [(sample.tuples, max(sample.state_rows, 1)) for sample in native]
        _line(axes, points, _NATIVE, found.native.ended)
        _native_label(axes, points, f"rows kept by {own(found)}", found.native, right)
    least = min([found.limit, *(sample.peak for sample in found.samples), *(sample.state_rows for sample in native)])
    most = max([found.limit, found.peak, *(sample.state_rows for sample in native)])
    axes.set_yscale("log")
    axes.set_ylim(10 ** (floor(log10(max(least, 1))) - 1), most * 6)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    _label(axes, [(right, found.limit)], f"proved bound M = {found.limit:,}", _INK)
    ending = ", still growing" if found.curve == "growing" else ""
    name = f"entries of the job: at most {found.peak:,}{ending}"
    _label(axes, [(right, found.samples[-1].peak)], name, _JOB, below=True)
    axes.set_ylabel("rows or entries kept (log scale)")
    axes.set_title("What has to be remembered", loc="left", fontsize=11.5)


def _heap(axes: Any, found: Any, native: Any) -> None:
    """Java's heap after a collection; without Java the process's resident memory."""
    right = max(sample.tuples for sample in (*found.samples, *native))
    points = [(sample.tuples, (sample.heap or sample.python) / _MIB) for sample in found.samples]
    _line(axes, points, _JOB)
    axes.set_ylim(0, max(sample.heap or sample.python for sample in (*found.samples, *native)) / _MIB * 1.3)
    if native:
        others = [(sample.tuples, sample.heap / _MIB) for sample in native]
        _line(axes, others, _NATIVE, found.native.ended)
        _native_label(axes, others, own(found), found.native, right)
    _label(axes, [(right, min(heap for _, heap in points))], "the job", _JOB, below=True)
    java = any(sample.heap for sample in found.samples)
    axes.set_ylabel("Java heap in use after a collection, MiB" if java else "resident memory, MiB")
    title = f"What that takes (maximum heap {found.heap})" if java else "What that takes"
    axes.set_title(title, loc="left", fontsize=11.5)


def _line(axes: Any, points: Points, colour: str, ended: str = "done") -> None:
    """A line; with a cross at its end where it did not get through the input."""
    axes.plot(*zip(*points, strict=True), color=colour, lw=2.4, marker="o", ms=3 if len(points) < 60 else 0)
    if ended != "done":
        axes.plot(*points[-1], marker="X", ms=10, color=colour, clip_on=False)


def _label(axes: Any, points: Points, text: str, colour: str, below: bool = False) -> None:
    """A line's name at its right end, clear of its last stretch, so that no legend is needed."""
    right = points[-1][0]
    near = [y for x, y in points if x >= right / 2]
    axes.annotate(
        text, (right, max(*near, 1)), xytext=(0, -8 if below else 8), textcoords="offset points", color=colour,
        ha="right", va="top" if below else "bottom", fontweight="bold" if colour != _INK else "normal", fontsize=10,
    )  # fmt: skip


def _native_label(axes: Any, points: Points, text: str, native: Any, most: float) -> None:
    """The name of the join's line, and how it ended: beside a line that ends early, else above it."""
    text = text if native.ended == "done" else f"{text}:\n{_ENDS.get(native.ended, native.ended)}"
    if points[-1][0] > 0.6 * most:
        _label(axes, points, text, _NATIVE)
        return
    axes.annotate(
        text, points[-1], xytext=(11, 0), textcoords="offset points", color=_NATIVE, ha="left", va="center",
        fontweight="bold", fontsize=10,
    )  # fmt: skip


def _axes(axes: Any, most: int) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlim(0, most * 1.02)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axes.set_xlabel("tuples read")
    axes.grid(axis="y", color=_FAINT, lw=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _short(number: float) -> str:
    if number >= 1_000_000:
        return f"{number / 1_000_000:g} M"
    return f"{number / 1000:g} k" if number >= 1000 else f"{number:g}"
