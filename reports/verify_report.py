"""What `verify` prints: a line per run, and of a difference the results and the rows that show it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from streambound.analyzer.values import to_json


def trial_line(trial: Any, number: int) -> str:
    """One run: its rows and micro-batches, what batch SQL returns, whether the job printed the same."""
    compared = trial.comparison
    bad = sum(trial.quarantined.values())
    return (
        f"run {number}: {sum(trial.rows.values()):,} rows in {trial.batches} micro-batches"
        f"{f', {bad:,} of them quarantined' if bad else ''}; {compared.results:,} results at "
        f"{compared.timestamps:,} timestamps: {'equal' if compared.equal else 'different'}"
    )


def verify_lines(found: Any) -> Iterator[str]:
    """The end: what was equal, or the difference."""
    runs = f"{len(found.trials)} run{'s' if len(found.trials) > 1 else ''}"
    reasons: dict[str, int] = {}
    for trial in found.trials:
        for reason, number in trial.quarantined.items():
            reasons[reason] = reasons.get(reason, 0) + number
    if reasons:
        yield f"left out, in quarantine: {', '.join(f'{reason} {number:,}' for reason, number in reasons.items())}"
    if found.difference is None:
        yield f"{found.query}: {_without_difference(found, runs)}; seed {found.seed}"
        return
    yield f"{found.query}: the job and batch SQL differ; seed {found.seed}"
    yield from _difference_lines(found)


def _without_difference(found: Any, runs: str) -> str:
    """The conclusion from runs without a difference: none if there was no result, unless there never is one."""
    if found.results:
        return f"the job prints what batch SQL returns in {runs} ({found.results:,} results)"
    if found.never:
        why = "the query never has a result, since its conditions contradict each other or are false"
        return f"{why}: correct one, unless that is meant; neither batch SQL nor the job had one in {runs}"
    return (
        f"NOTHING WAS COMPARED: {runs} had no results, which shows nothing; give rows that the query joins with "
        "--input, or try another --seed"
    )


def _difference_lines(found: Any) -> Iterator[str]:
    difference = found.difference
    timeless = difference.timestamp is None
    at = "none: relations alone give it" if timeless else to_json(difference.timestamp, found.time)
    yield f"first at _ts = {at}:"
    table = [(*found.columns, "batch SQL", "job")]
    table += [(*cell.values, f"{cell.expected} times", f"{cell.found} times") for cell in difference.cells]
    yield from _aligned(table)
    number = sum(len(lines) for lines in difference.rows.values())
    size = "no row can go" if difference.minimal else "fewer may do"
    yield f"with {number} row{'s' if number != 1 else ''} ({size}: {difference.trials} trials):"
    for name, lines in difference.rows.items():
        yield from (f"  {name} {line}" for line in lines)


def _aligned(table: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    for row in table:
        yield ("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()


def verify_json(found: Any) -> str:
    """The same as data."""
    trials = [
        {
            "rows": trial.rows,
            "batches": trial.batches,
            "quarantined": trial.quarantined,
            "results": trial.comparison.results,
            "timestamps": trial.comparison.timestamps,
            "equal": trial.comparison.equal,
        }
        for trial in found.trials
    ]
    return json.dumps(
        {
            "schema_version": 1,
            "query": found.query,
            "engine": found.engine,
            "equal": found.difference is None,
            "results": found.results,
            "never": found.never,
            "seed": found.seed,
            "runs": trials,
            "difference": None if found.difference is None else _difference(found),
        },
        indent=1,
        ensure_ascii=False,
    )


def _difference(found: Any) -> dict[str, Any]:
    difference = found.difference
    results = [
        {"values": dict(zip(found.columns, cell.values, strict=True)), "batch_sql": cell.expected, "job": cell.found}
        for cell in difference.cells
    ]
    return {
        "_ts": to_json(difference.timestamp, found.time),
        "results": results,
        "rows": difference.rows,
        "minimal": difference.minimal,
        "trials": difference.trials,
    }
