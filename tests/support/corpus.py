"""The 200 cases of the corpus, and those that have an output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent.parent / "data" / "corpus.jsonl").read_text().splitlines()
]
ANSWERED = [case for case in CASES if "expected" in case]
