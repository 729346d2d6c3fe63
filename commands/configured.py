"""Options whose defaults are in the catalog's `[check]`: the catalog is read before them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from streambound.analyzer.registration import ALLOW_OUTSIDE

if TYPE_CHECKING:
    from streambound.analyzer.workspace import Workspace
    from streambound.gate.policy import Policy

_F = TypeVar("_F", bound=Callable[..., Any])
OPTIONS = {
    "fail-on": "fail_on",
    "formats": "named",
    "criteria": "criteria",
    "max-entries": "max_entries",
    "budget": "budget",
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


def inside_workspace(catalog_file: Path | None, stdin_name: Path | None = None) -> Workspace:
    """As `workspace_of`; raises UsageError where its `[check]` names a file that is not below it, unless allowed."""
    from streambound.analyzer.registration import require_inside

    workspace, params = workspace_of(catalog_file, stdin_name), click.get_current_context().params
    catalog = workspace.default
    if catalog is None or outside_allowed():
        return workspace
    outputs = [] if given("format_name") else [destination.file for destination in params.get("named", ())]
    for key, files in (("formats", outputs), ("baseline", [params["baseline_file"]])):
        for file in files if key in catalog.settings.values and not given(OPTIONS[key]) else ():
            if file is not None:
                require_inside(catalog, file, f"[check] {key}: {file}")
    return workspace


def files_of(workspace: Workspace, paths: tuple[Path, ...], allow_empty: bool) -> list[Path]:
    """The query files of a command: those that are named, else those that the catalog registers."""
    from streambound.analyzer.query_files import query_files

    if not paths:
        return workspace.registered(allow_empty, outside_allowed())
    files = query_files(paths, allow_empty)
    workspace.checked = tuple(files)
    return files


def outside_allowed() -> bool:
    """Whether what a catalog names may lie outside of its directory."""
    return bool(click.get_current_context().meta.get(ALLOW_OUTSIDE))


def _keep_allowed(context: click.Context, _: click.Parameter, allowed: bool) -> None:
    context.meta[ALLOW_OUTSIDE] = allowed


def outside_option(command: _F) -> _F:
    """Add --allow-outside."""
    return click.option(ALLOW_OUTSIDE, is_flag=True, expose_value=False, callback=_keep_allowed,
                        help="Let the catalog's queries, and the files that its [check] names, lie outside of its "
                             "directory, and --fix change files there.")(command)  # fmt: skip


def given(parameter: str) -> bool:
    """Whether an option is on the command line; else it is a default, of the catalog or its own."""
    return click.get_current_context().get_parameter_source(parameter) is ParameterSource.COMMANDLINE


def policy_of(workspace: Workspace, run: Mapping[str, Any] | None = None, **asked: Any) -> Policy:
    """The policy of the command line, over the catalog's settings for single files."""
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
    from streambound.gate.policy import from_catalog

    if "baseline_file" in found:
        found["baseline_file"] = str(from_catalog(catalog, found["baseline_file"]))
    if "named" in found:
        asked = [value.partition(":") for value in found["named"]]
        found["named"] = [
            f"{form}:{from_catalog(catalog, file)}" if file else form + colon for form, colon, file in asked
        ]
    return found
