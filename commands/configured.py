"""Options whose defaults are in the catalog's `[check]`: the catalog is read before them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from streambound.analyzer.workspace import Workspace
    from streambound.gate.policy import Policy

OPTIONS = {
    "fail-on": "fail_on",
    "formats": "named",
    "criteria": "criteria",
    "max-entries": "max_entries",
    "allow-empty": "allow_empty",
    "repairs": "repairs",
    "baseline": "baseline_file",
    "transitions-only": "transitions_only",
    "jobs": "jobs",
    "cache": "use_cache",
}
"""The parameter of each setting."""
_WORKSPACE = "streambound.workspace"


def configured(command: click.Command) -> click.Command:
    """Let the catalog set the defaults of a command's options."""
    for option in command.params:
        if option.name == "catalog_file":
            option.is_eager = True
            option.callback = _read
    return command


def workspace_of(catalog_file: Path | None, stdin_name: Path | None = None) -> Workspace:
    """The workspace of this invocation, which was read for the options; the next time it is read again."""
    from streambound.analyzer.workspace import Workspace

    context = click.get_current_context(silent=True)
    found = context.meta.pop(_WORKSPACE, None) if context is not None else None
    return found if isinstance(found, Workspace) and stdin_name is None else Workspace(catalog_file, stdin_name)


def given(parameter: str) -> bool:
    """Whether an option is on the command line; else it is a default, of the catalog or its own."""
    return click.get_current_context().get_parameter_source(parameter) is ParameterSource.COMMANDLINE


def policy_of(workspace: Workspace, run: Mapping[str, Any] | None = None, **asked: Any) -> Policy:
    """What the command line asks for, and ``asked``, over what the catalog says of single files."""
    from streambound.gate.policy import Policy

    params = click.get_current_context().params
    found = {key: params[name] for key, name in OPTIONS.items() if name in params and given(name)}
    return Policy(workspace.default, found | asked, run or {})


def _read(context: click.Context, option: click.Parameter, value: Path | None) -> Path | None:
    """Read the catalog; its settings become the defaults of the options that follow."""
    if context.resilient_parsing:
        return value
    workspace = workspace_of(value)
    context.meta[_WORKSPACE] = workspace
    context.default_map = {**(context.default_map or {}), **defaults(workspace)}
    return value


def defaults(workspace: Workspace) -> dict[str, Any]:
    """The catalog's settings by parameter; a path starts where the catalog is."""
    catalog = workspace.default
    if catalog is None:
        return {}
    found = {OPTIONS[key]: setting.value for key, setting in catalog.settings.values.items()}
    if "baseline_file" in found:
        from streambound.gate.policy import baseline_path

        found["baseline_file"] = str(baseline_path(catalog, found["baseline_file"]))
    return found
