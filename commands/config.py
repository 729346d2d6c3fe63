"""`streambound config show`: the settings of a check, and where each comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streambound.commands.check import check
from streambound.commands.configured import OPTIONS, configured, given, workspace_of
from streambound.commands.options import PathArgument, common_options

if TYPE_CHECKING:
    from streambound.analyzer.catalog import Catalog

Row = tuple[str, Any, str]
"""A setting, its value (None where nothing is set), and its origin."""


@click.group("config")
def config() -> None:
    """Show how checks are configured: the catalog, its table [check], and the command line."""


@click.command("show")
@click.argument("file", required=False, type=PathArgument())
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object per setting: name, value, origin.")
@common_options
def show(
    file: Path | None, as_json: bool, catalog_file: Path | None, color: bool | None, debug: bool, **options: object
) -> None:
    """Show each setting of a check with its value and its origin.

    The origin is the command line, an override of the catalog for FILE, a line of the catalog, or a default. The
    options of check may be given, to see what they would override.

    \b
    streambound config show                          what a bare check does
    streambound config show queries/legacy/q.sql     with the overrides that this file fits
    """
    from streambound.analyzer.workspace import relative

    catalog = workspace_of(catalog_file).default
    rows = list(_rows(catalog, None if file is None else str(relative(file.absolute()))))
    if as_json:
        for name, value, origin in rows:
            click.echo(json.dumps({"name": name, "value": value, "origin": origin}, ensure_ascii=False))
        return
    texts = [f"{name} = {_toml(value)}" if value is not None else f"# {name} is not set" for name, value, _ in rows]
    width = max(map(len, texts))
    for text, (_, _, origin) in zip(texts, rows, strict=True):
        click.echo(f"{text:{width}}  # {origin}")


show.params += [option for option in check.params if option.name in OPTIONS.values()]
config.add_command(configured(show))


def _rows(catalog: Catalog | None, file: str | None) -> Iterator[Row]:
    from streambound.analyzer.settings import KEYS
    from streambound.analyzer.toml_lines import toml_lines
    from streambound.gate.policy import Policy

    if catalog is None:
        yield "catalog", None, "the nearest streams.toml of each query file; its [check] is not read"
    else:
        origin = "command line" if given("catalog_file") else "found from the working directory upwards"
        yield "catalog", catalog.file, origin
        line = toml_lines(catalog.text).get(("queries",))
        yield "queries", list(catalog.queries), f"{catalog.file}:{line}" if line else "default"
        line = toml_lines(catalog.text).get(("check", "exclude"))
        yield "exclude", list(catalog.settings.exclude), f"{catalog.file}:{line}" if line else "default"
    for key in KEYS:
        yield _row(key.name, key.default, catalog, file)
    policy, here = Policy(catalog), file or (catalog.file if catalog is not None else "")
    for code, (setting, pattern) in sorted(policy.severities(here).items()):
        yield f"severity.{code}", setting.value, _origin(catalog, setting.line, pattern)
    acceptance = sorted(policy.acceptance(here).items())
    for code, (setting, pattern) in acceptance:
        if setting.value is not None:
            yield f"allow.{code}", setting.value, _origin(catalog, setting.line, pattern)
    denied = {code: found for code, found in acceptance if found[0].value is None}
    if denied:
        origins = dict.fromkeys(_origin(catalog, setting.line, pattern) for setting, pattern in denied.values())
        yield "deny", list(denied), "; ".join(origins)


def _row(name: str, default: Any, catalog: Catalog | None, file: str | None) -> Row:
    from streambound.gate.policy import Policy

    parameter = OPTIONS[name]
    value = click.get_current_context().params[parameter]
    value = str(value) if isinstance(value, Path) else value
    value = [_output(one) for one in value] or None if isinstance(value, tuple) else value
    if given(parameter):
        return name, value, "command line"
    if file is not None and (found := Policy(catalog).overridden(file).get(name)):
        setting, pattern = found
        return name, setting.value, _origin(catalog, setting.line, pattern)
    if catalog is not None and name in catalog.settings.values:
        return name, value, _origin(catalog, catalog.settings.values[name].line, "")
    return name, default if value is None else value, "default"


def _output(one: Any) -> str:
    """A format and its file, as -o takes them."""
    return f"{one.form.name}:{one.file}" if one.file is not None else str(one.form.name)


def _origin(catalog: Catalog | None, line: int, pattern: str) -> str:
    place = f"{catalog.file if catalog else ''}:{line}"
    return f"{place}, override for {pattern}" if pattern else place


def _toml(value: Any) -> str:
    """A value as TOML: a text, a truth value, a number or a list of texts."""
    return json.dumps(value, ensure_ascii=False)
