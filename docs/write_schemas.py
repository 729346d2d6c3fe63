"""Write the JSON Schemas, from the models of the documents: python docs/write_schemas.py DIR."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from streambound.analyzer import byte_sizes, catalog_model, settings
from streambound.reports import json_model, json_report

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}

Schema = dict[str, Any]


class Writer:
    """Turns types into schemas; those that are ``defined`` are referred to by name."""

    def __init__(self, defined: tuple[type, ...] = ()) -> None:
        self.names = {document: document.__name__.removesuffix("Object").lower() for document in defined}

    def document(self, model: type, **head: Any) -> Schema:
        """The schema of a whole document."""
        definitions = {name: self.table(document) for document, name in self.names.items()}
        return {"$schema": DIALECT, **head, **self.table(model)} | ({"$defs": definitions} if definitions else {})

    def table(self, model: type) -> Schema:
        """An object with the keys of a TypedDict."""
        hints = get_type_hints(model, include_extras=True)
        return closed({key: self.of(hint) for key, hint in hints.items()}, model.__required_keys__)  # type: ignore[attr-defined]

    def of(self, hint: Any) -> Schema:
        """The schema of a type."""
        origin, arguments = get_origin(hint), get_args(hint)
        if hint in self.names:
            return {"$ref": f"#/$defs/{self.names[hint]}"}
        if origin in (Required, NotRequired):
            return self.of(arguments[0])
        if known := _words(hint):
            return {"enum": known}
        if origin is Annotated:
            words = dict(arguments[1:])
            return words if "const" in words else self.of(arguments[0]) | words
        if origin in (Union, UnionType):
            return self._any_of(arguments)
        if origin is list:
            return {"type": "array", "items": self.of(arguments[0])}
        if origin in (dict, Mapping):
            return self._mapping(*arguments)
        if is_typeddict(hint):
            return self.table(hint)
        return {"type": _TYPES[hint]}

    def _any_of(self, hints: tuple[Any, ...]) -> Schema:
        if all(hint in _TYPES for hint in hints) and NoneType not in hints:
            return {"type": [_TYPES[hint] for hint in hints]}
        first, *rest = parts = [self.of(hint) for hint in hints]
        if rest == [{"type": "null"}] and "enum" in first:
            return {"enum": [*first["enum"], None]}
        if rest == [{"type": "null"}] and first == {"type": "object"}:
            return {"type": ["object", "null"]}
        return {"anyOf": parts}

    def _mapping(self, key: Any, value: Any) -> Schema:
        if words := _words(key):
            return closed({word: self.of(value) for word in words}, words)
        names = {name: word for name, word in self.of(key).items() if name != "type"}
        others = {} if value is Any else {"additionalProperties": self.of(value)}
        return {"type": "object"} | ({"propertyNames": names} if names else {}) | others


def closed(properties: Schema, required: Any) -> Schema:
    """An object of these properties and no others."""
    return {"type": "object", "properties": properties, "required": sorted(required), "additionalProperties": False}


def _words(hint: Any) -> list[str]:
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if get_origin(hint) is Annotated:
        return list(dict(get_args(hint)[1:]).get("enum", ()))
    return [word.value for word in hint] if isinstance(hint, type) and issubclass(hint, Enum) else []


def _setting(key: settings.Key) -> Schema:
    if isinstance(key.kind, tuple):
        return {"enum": list(key.kind)}
    words = {int: {"minimum": 1}, str: {"minLength": 1}, bool: {}}
    found = (
        {"type": "array", "items": {"type": "string"}}
        if key.kind is list
        else {"type": _TYPES[key.kind], **words[key.kind]}
    )
    more = {"pattern": key.pattern, "description": key.about}
    return found | {word: text for word, text in more.items() if text}


def _check() -> Schema:
    """The settings of `[check]`, those that overrides may set among them."""
    by_code = Writer().table(catalog_model.ByCode)["properties"]
    files = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    per_file = {key.name: _setting(key) for key in settings.KEYS if key.per_file}
    override = closed({"files": files, **per_file, **by_code}, ["files"])
    every = {key.name: _setting(key) for key in settings.KEYS}
    every["exclude"] = {
        "type": "array",
        "items": {"type": "string"},
        "description": "Patterns of files that are not registered although queries name them.",
    }
    size = {"type": "string", "pattern": byte_sizes.PATTERN}
    texts = {"type": "array", "items": {"type": "string"}}
    budget = closed({"name": {"type": "string"}, "budget": size, "files": texts, "queries": texts}, ["name", "budget"])
    tables = {name: {"type": "array", "items": one} for name, one in (("overrides", override), ("budgets", budget))}
    return closed({**every, **by_code, **tables}, [])


def schemas() -> dict[str, Schema]:
    """Each schema, by the document that it is about."""
    catalog = Writer().document(
        catalog_model.CatalogDocument,
        title="streams.toml, the catalog of streambound",
        description="Shape and types. That names agree, domains fit their columns and the like, streambound checks "
        "beyond this.",
    )
    catalog["properties"]["check"] = _check()
    report = Writer(json_model.DEFINED).document(
        json_model.ReportObject,
        title="streambound check --format json",
        description=f"Schema version {json_report.SCHEMA_VERSION}. Lines and columns are 1-based, in code points; ends "
        "are exclusive. JSON Lines has a query of `queries` per line.",
    )
    return {"catalog": catalog, "report": report}


def write_schemas(directory: Path) -> None:
    """A file for each."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=1, ensure_ascii=False)
        (directory / f"{name}.schema.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", metavar="DIR", type=Path, help="where the JSON Schemas go; made if there is none")
    write_schemas(parser.parse_args().directory)
