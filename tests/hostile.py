"""How long `streambound check` takes at worst: files of up to 100 kB that were made to take long, each by itself.

Prints the seconds of processor time and the memory of the slowest; arguments choose families by parts of their names.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from support.hostile_inputs import CATALOG, FAMILIES

LENGTHS = (1_000, 4_000, 16_000, 100_000)
SHOWN = 15
MOST = 60
"""Seconds of processor time after which a check is ended."""


def main() -> None:
    wanted = sys.argv[1:]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in FAMILIES:
            for length in LENGTHS if not wanted or any(part in name for part in wanted) else ():
                seconds, mebibytes, status = checked(Path(folder), name, length)
                found.append((seconds, mebibytes, name, length))
                took = f"{seconds:6.1f} s {mebibytes:6,.0f} MiB"
                print(f"{took}  status {status}  {length:7,} characters  {name}", file=sys.stderr, flush=True)
    print(f"| the slowest of {len(found):,} hostile files | seconds | MiB |\n| --- | --- | --- |")
    for seconds, mebibytes, name, length in sorted(found, reverse=True)[:SHOWN]:
        print(f"| {name}, {length:,} characters | {seconds:.1f} | {mebibytes:,.0f} |")


def checked(folder: Path, name: str, length: int) -> tuple[float, float, int]:
    """The processor time of one check, the most memory that it had at a time, and its exit status."""
    (folder / "streams.toml").write_text(CATALOG, encoding="utf-8")
    query = folder / "q.sql"
    query.write_text(FAMILIES[name](length, random.Random(1)), encoding="utf-8", errors="surrogatepass")
    command = [sys.executable, "-m", "streambound", "check", "--no-cache", "-j", "1", "--format", "json", str(query)]
    limited = ["bash", "-c", f'ulimit -t {MOST}; exec "$@"', "bash", *command]
    process = subprocess.Popen(limited, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode


if __name__ == "__main__":
    main()
