"""What is read from JSON: of the types that its models say, and told with its file and place where it is not."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from msgspec import Struct

from streambound.analyzer.errors import CatalogError, InputError
from streambound.analyzer.json_models import parsed, place_of
from streambound.importing.avro import avro_schema
from streambound.importing.spark_schema import spark_schema


class Leaf(Struct, frozen=True):
    kind: Literal["a", "b"]
    number: int
    flag: bool = False


class Tree(Struct, frozen=True):
    name: str
    leaves: tuple[Leaf, ...]


GOOD = '{"name": "n\\"{",\n "leaves": [{"kind": "a", "number": 1},\n  {"number": 2, "kind": "b", "flag": true}]}'


def test_a_model_is_read() -> None:
    assert parsed(GOOD, "f.json").read(Tree, "no tree") == Tree('n"{', (Leaf("a", 1), Leaf("b", 2, True)))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"number": 2', '"number": true', "f.json:3:14: no tree: true is not an integer at leaves[1].number"),
        ('"number": 2', '"number": 2.0', "f.json:3:14: no tree: 2.0 is not an integer at leaves[1].number"),
        ('"kind": "b"', '"kind": "c"', 'f.json:3:25: no tree: "c" is not one of "a", "b" at leaves[1].kind'),
        ('"number": 1', '"n": 1', "f.json:2:13: no tree: required field missing at leaves[0].number"),
        ('"flag": true', '"more": 1', "f.json:3:3: no tree: extra fields found (more) at leaves[1]"),
        ('"leaves": [', '"leaves": [3, ', "f.json:2:13: no tree: 3 is not an object at leaves[0]"),
        ('"flag": true', '"flag": 1', "f.json:3:38: no tree: 1 is not true or false at leaves[1].flag"),
        ('"b"', '"b', "f.json:3:"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(before: str, after: str, message: str) -> None:
    assert before in GOOD
    with pytest.raises(CatalogError) as error:
        parsed(GOOD.replace(before, after), "f.json", error=CatalogError).read(Tree, "no tree")
    assert error.value.placed.startswith(message), error.value.placed


def test_an_open_model_leaves_other_members_alone() -> None:
    assert parsed('{"kind": "a", "number": 1, "more": []}', "").read(Leaf, "", closed=False) == Leaf("a", 1)


def _paths(value: Any) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(), *((key, *path) for key, member in inner for path in _paths(member))]


@pytest.mark.parametrize("indent", [None, 1])
def test_every_value_has_a_place(indent: int | None) -> None:
    document = {"a": [1, {"b,": "}]"}, [], [[{}]]], "": {"é\n": None, "c": [2, "x"]}, "d": -1.5}
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    for path in _paths(document):
        value: Any = document
        for step in path:
            value = value[step]
        line, column = place_of(text, path)
        rest = "\n".join(text.split("\n")[line - 1 :])[column - 1 :]
        assert json.JSONDecoder().raw_decode(rest)[0] == value, path


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"type": "struct", "fields": [{"name": "a", "type": "long"},\n {"type": "long"}]}', "s.json:2:2"),
        ('{"type": "struct",\n "fields": {}}', "s.json:2:12"),
        ('{"type": "array"}', "s.json:1:10"),
        ("{", "s.json:1:2"),
    ],
)
def test_a_schema_of_spark_is_refused_at_its_place(text: str, where: str) -> None:
    with pytest.raises(InputError) as error:
        spark_schema(text, "S", "s.json")
    assert error.value.where == where


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"},\n {"type": "int"}]}', "s.avsc:2:2"),
        ('[{"type": "record", "name": "r",\n "fields": {}}]', "s.avsc:2:12"),
        ('{"type": "enum", "name": "e", "fields": []}', "s.avsc:1:10"),
        ("[]", "s.avsc:1"),
    ],
)
def test_a_schema_of_avro_is_refused_at_its_place(text: str, where: str) -> None:
    with pytest.raises(InputError) as error:
        avro_schema(text, "S", "s.avsc")
    assert error.value.where == where
