"""The command `streambound`: it calls the package of that name, if that is the one which was installed.

A gate that runs another package would be green whatever the queries are. Names on PYTHONPATH come before what is
installed, so that no check inside the package helps: this module is outside of it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_INSTALLED = (_HERE.parent / "streambound", _HERE.parents[1])
"""Beside this package, or, in a checkout, the root of the tree that it is in."""
_USAGE = 2


def main() -> None:
    """Run the command line; exit with 2 where Python would import another package under its name."""
    found = _directory(find_spec("streambound"))
    if found not in _INSTALLED:
        print(_refusal(found), file=sys.stderr)
        sys.exit(_USAGE)
    import_module("streambound.cli").main()


def _directory(spec: ModuleSpec | None) -> Path | None:
    """Where a package is, or a module's file."""
    if spec is None:
        return None
    places = [*(spec.submodule_search_locations or ()), spec.origin]
    return Path(places[0]).resolve() if places[0] else None


def _refusal(found: Path | None) -> str:
    if found is None:
        return "streambound: error: the package streambound is not installed; reinstall it"
    return (
        f"streambound: error: Python finds another package named streambound: {found}\n"
        "  = help: it comes first on Python's path; rename it, or leave its directory out of PYTHONPATH.\n"
        "    Nothing was checked."
    )
