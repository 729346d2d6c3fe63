"""How a gate checks: the catalog's table `[check]`, named as the options of `check` are, with overrides per directory.

```toml
[check]
fail-on = "warning"
baseline = "streambound-baseline.json"
exclude = ["queries/drafts/**"]
severity = { SB208 = "warning", SB402 = "off" }

[[check.overrides]]
files = ["queries/legacy/**"]
fail-on = "error"
allow = { SB201 = "replaced in 2027" }

[[check.budgets]]
name = "payments"
files = ["queries/payments/**"]
budget = "10 GB"
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from streambound.analyzer import byte_sizes
from streambound.analyzer.codes import Code, Severity
from streambound.analyzer.toml_reader import Path, TomlReader, suggest

LEVELS = ("error", "warning", "note")
OFF = "off"
_TABLE = ("check",)
_OVERRIDES, _FILES, _SEVERITY, _ALLOW, _DENY = "overrides", "files", "severity", "allow", "deny"
_EXCLUDE = "exclude"
_BUDGETS, _NAME, _BUDGET, _QUERIES = "budgets", "name", "budget", "queries"
_BY_CODE = (_SEVERITY, _ALLOW, _DENY)


class Key(Struct, frozen=True):
    """A setting: its name, what it may be (some words, or a type), its default, and whether overrides may set it.

    ``about`` says more of it in the schema; a text fits the ``pattern``.
    """

    name: str
    kind: tuple[str, ...] | type
    default: Any = None
    per_file: bool = False
    about: str = ""
    pattern: str = ""


_SIZE = Key(_BUDGET, str, per_file=True, about="a size in bytes, such as 2 GB or 512 MiB", pattern=byte_sizes.PATTERN)
KEYS: tuple[Key, ...] = (
    Key("fail-on", LEVELS, "error", per_file=True),
    Key("formats", list, about="As check -o takes them: FORMAT or FORMAT:FILE."),
    Key("criteria", ("exact", "paper"), "exact", per_file=True),
    Key("max-entries", int, per_file=True),
    _SIZE,
    Key("allow-empty", bool, False, per_file=True),
    Key("repairs", bool, per_file=True),
    Key("baseline", str),
    Key("transitions-only", bool, False, per_file=True),
    Key("jobs", int),
    Key("cache", bool, True),
)
"""Each is also an option of `check`; what is set by code, severities and acceptance, is in tables of its own."""


class Setting(Struct, frozen=True):
    """A value and the line of the catalog that sets it."""

    value: Any
    line: int


class Override(Struct, frozen=True):
    """Other settings for the files that fit one of some patterns, relative to the catalog."""

    files: tuple[str, ...]
    values: Mapping[str, Setting]
    severity: Mapping[str, Setting]
    acceptance: Mapping[str, Setting]
    line: int


class SharedBudget(Struct, frozen=True):
    """The most bytes of the states of some queries together, as it is written: of an owner, or of all.

    It covers those in files that fit a pattern, relative to the catalog, and with these names; without any, all.
    """

    name: str
    budget: str
    files: tuple[str, ...]
    queries: tuple[str, ...]
    line: int


class CheckSettings(Struct, frozen=True):
    """The settings in the catalog: values by key, severities by code, and overrides; the last one that matches counts.

    ``acceptance`` has by code the reason why it is allowed, or None where it is denied: then nothing accepts it.
    ``exclude`` are patterns of files that are not registered although ``queries`` name them; each of the ``budgets`` is
    one of several queries together.
    """

    values: Mapping[str, Setting] = field(default_factory=dict)
    severity: Mapping[str, Setting] = field(default_factory=dict)
    acceptance: Mapping[str, Setting] = field(default_factory=dict)
    overrides: tuple[Override, ...] = ()
    exclude: tuple[str, ...] = ()
    budgets: tuple[SharedBudget, ...] = ()


NO_SETTINGS = CheckSettings()
"""What a catalog without `[check]` sets."""


def read_settings(reader: TomlReader, value: object) -> CheckSettings:
    """The table `[check]`; raises CatalogError at the key that is wrong."""
    body = reader.mapping(value, _TABLE)
    reader.known_keys(body, (*(key.name for key in KEYS), *_BY_CODE, _EXCLUDE, _OVERRIDES, _BUDGETS), _TABLE)
    overrides, budgets = (_tables(reader, body, name) for name in (_OVERRIDES, _BUDGETS))
    return CheckSettings(
        dict(_values(reader, body, _TABLE)),
        dict(_severities(reader, body, _TABLE)),
        dict(_acceptance(reader, body, _TABLE)),
        tuple(_override(reader, item, (*_TABLE, _OVERRIDES, str(number))) for number, item in enumerate(overrides)),
        reader.strings(body.get(_EXCLUDE, []), (*_TABLE, _EXCLUDE)),
        tuple(_budget(reader, item, (*_TABLE, _BUDGETS, str(number))) for number, item in enumerate(budgets)),
    )


def _tables(reader: TomlReader, body: Mapping[str, Any], name: str) -> list[object]:
    found = body.get(name, [])
    if not isinstance(found, list):
        raise reader.fail(f"check.{name} must be tables: [[check.{name}]]", (*_TABLE, name))
    return found


def _budget(reader: TomlReader, value: object, path: Path) -> SharedBudget:
    body = reader.mapping(value, path)
    reader.known_keys(body, (_NAME, _BUDGET, _FILES, _QUERIES), path)
    name = body.get(_NAME)
    if not isinstance(name, str) or not name.strip():
        raise reader.fail("a budget has no name", path, 'add name = "payments", or whose it is')
    if _BUDGET not in body:
        raise reader.fail(f"the budget of {name} has no size", path, 'add budget = "10 GB"')
    size = _value(reader, _SIZE, body[_BUDGET], (*path, _BUDGET))
    files, queries = (reader.strings(body.get(key, []), (*path, key)) for key in (_FILES, _QUERIES))
    return SharedBudget(name, size, files, queries, _line(reader, (*path, _BUDGET)))


def _override(reader: TomlReader, value: object, path: Path) -> Override:
    body = reader.mapping(value, path)
    allowed = tuple(key.name for key in KEYS if key.per_file)
    for key in (key.name for key in KEYS if not key.per_file):
        if key in body:
            message = f"{key} is for the whole run, not for some files"
            raise reader.fail(message, (*path, key), f"set it under [check]; here {', '.join((*allowed, *_BY_CODE))}")
    reader.known_keys(body, (_FILES, *allowed, *_BY_CODE), path)
    files = reader.strings(body.get(_FILES, []), (*path, _FILES))
    if not files:
        raise reader.fail("an override names no files", path, 'add files = ["queries/legacy/**"]')
    return Override(
        files,
        dict(_values(reader, body, path)),
        dict(_severities(reader, body, path)),
        dict(_acceptance(reader, body, path)),
        _line(reader, path),
    )


def _values(reader: TomlReader, body: Mapping[str, Any], path: Path) -> Iterator[tuple[str, Setting]]:
    for key in KEYS:
        if key.name in body:
            where = (*path, key.name)
            yield key.name, Setting(_value(reader, key, body[key.name], where), _line(reader, where))


def _line(reader: TomlReader, path: Path) -> int:
    at = reader.at(path)
    return at.span.line if at else 1


def _value(reader: TomlReader, key: Key, value: object, path: Path) -> Any:
    if isinstance(key.kind, tuple):
        return reader.choice({key.name: value}, key.name, path[:-1], key.kind)
    if key.kind is list:
        return list(reader.strings(value, path))
    if key.kind is bool and not isinstance(value, bool):
        raise reader.fail(f"{key.name} must be true or false", path)
    if key.kind is int and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise reader.fail(f"{key.name} must be an integer of at least 1", path)
    if key.kind is str and not (isinstance(value, str) and value):
        raise reader.fail(f"{key.name} must be a text", path)
    if key.pattern and not re.search(key.pattern, str(value)):
        raise reader.fail(f"{key.name} must be {key.about}", path)
    return value


def _severities(reader: TomlReader, body: Mapping[str, Any], path: Path) -> Iterator[tuple[str, Setting]]:
    """The severities of warnings and notes; an error stays one, to be accepted case by case, with a reason."""
    path = (*path, _SEVERITY)
    for code, value in reader.mapping(body.get(_SEVERITY, {}), path).items():
        where = (*path, code)
        if _known(reader, code, where).severity is Severity.ERROR:
            remedy = "accept a finding with a comment that has a reason, or with a baseline: see docs/gate.md"
            raise reader.fail(f"{code} is an error, and stays one", where, remedy)
        if value not in (*LEVELS, OFF):
            raise reader.fail(f"a severity is one of {', '.join((*LEVELS, OFF))}", where)
        yield code, Setting(value, _line(reader, where))


def _acceptance(reader: TomlReader, body: Mapping[str, Any], path: Path) -> Iterator[tuple[str, Setting]]:
    """Why each code is allowed; None for those that are denied."""
    allowed = reader.mapping(body.get(_ALLOW, {}), (*path, _ALLOW))
    for code, reason in allowed.items():
        where = (*path, _ALLOW, code)
        _acceptable(reader, code, where)
        if not isinstance(reason, str) or not reason.strip():
            raise reader.fail(f"{code} is allowed without a reason", where, f'write {code} = "why, and until when"')
        yield code, Setting(" ".join(reason.split()), _line(reader, where))
    where = (*path, _DENY)
    for code in reader.strings(body.get(_DENY, []), where):
        _acceptable(reader, code, where)
        if code in allowed:
            raise reader.fail(f"{code} is both allowed and denied", where)
        yield code, Setting(None, _line(reader, where))


def _acceptable(reader: TomlReader, code: str, where: Path) -> None:
    if not _known(reader, code, where).acceptable:
        message = f"{code} can be neither allowed nor denied: what was not analysed does not pass"
        raise reader.fail(message, where)


def _known(reader: TomlReader, code: str, where: Path) -> Code:
    known = Code.named(code)
    if known is None:
        raise reader.fail(f"unknown code {code!r}", where, suggest(code, list(Code)) or "docs/codes lists them")
    return known
