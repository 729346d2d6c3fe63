"""No regular expression takes more than linear time, whatever the text: counted in steps of a backtracking matcher."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.regex_steps import matched, steps, worst_growth

ROOT = Path(__file__).parents[1]
LINEAR = 8
"""Steps may grow so much where a text grows four times; to the square it would be 16."""
_METHODS = "match|fullmatch|search|sub|findall|finditer|split"
_OWN_WORK = ("json_objects", "texts")
"""Modules with expressions that the matcher cannot count: a number of thousands of digits, and patterns of users."""

Used = tuple[re.Pattern[str], str]


def written(folder: str) -> Iterator[tuple[str, Used]]:
    """The expressions that modules compile when they are imported, or write where they use them, and how."""
    for file in sorted((ROOT / folder).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if not re.search(r"^import re$", text, re.M) or file.stem in _OWN_WORK:
            continue
        parts = file.relative_to(ROOT).with_suffix("").parts
        runtime = parts[:2] == ("synopsis_exec", "runtime")
        module = importlib.import_module(
            ".".join(("streambound_runtime", *parts[2:]) if runtime else ("streambound", *parts))
        )
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                methods = re.findall(rf"\b{name}\.({_METHODS})\(", text)
                yield from ((f"{module.__name__}.{name}", (value, method)) for method in dict.fromkeys(methods))
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Call(ast.Attribute(ast.Name("re"), method), [ast.Constant(str(pattern)), *_]) if (
                    method in _METHODS.split("|")
                ):
                    yield f"{module.__name__}:{node.lineno}", (re.compile(pattern), method)


USED = {
    f"{name}.{use[1]}": use
    for folder in ("analyzer", "gate", "importing", "synopsis_exec")
    for name, use in written(folder)
}


@pytest.mark.slow
@pytest.mark.parametrize("use", USED.values(), ids=USED)
def test_steps_grow_as_the_text_does(use: Used) -> None:
    assert worst_growth(*use) <= LINEAR


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r'"(?:[^"\\]|\\.)*"', "sub"),
        (r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", "fullmatch"),
        (r"\s*([a-z_]+)\s*(?:\(\s*(\d+)\s*\)|<.*>|\s[a-z ]+)?\s*$", "match"),
        (r"\{\{.*?\}\}|\{#.*?#\}", "sub"),
        (r"(?:\.(\d*))?\s*(\S+)?", "fullmatch"),
        (r"/\*.*?\*/|\w+|[^\s\w]", "finditer"),
        (r"(aaa+)+b", "match"),
    ],
)
def test_the_measure_finds_what_is_slow(pattern: str, method: str) -> None:
    assert worst_growth(re.compile(pattern, re.S), method) > LINEAR


@pytest.mark.parametrize(
    "pattern", [r"a*b", r"(?<!\d)\d+x", r"(?:ab|a)*+c", r"\ba?[^x]{2,3}$", r"(?i)A(?=b)|[^\W\d]+?z"]
)
def test_the_matcher_matches_as_python_does(pattern: str) -> None:
    """It would find nothing slow in what it reads wrongly."""
    compiled = re.compile(pattern)
    for text in ("aab", "b", "1x", "abac", "ababc", "axx", "aBz", "ab", "zz"):
        anchored = compiled.match(text) is not None
        assert matched(compiled, text) == anchored, (pattern, text)


def test_many_digits_are_looked_for_once() -> None:
    """A run of digits is counted from its first one only."""
    of_four = re.compile(r"(?<!\d)\d{40}")
    few, many = (steps(of_four, "search", "1" * 39 + "x" + "1" * size) for size in (30, 38))
    assert many <= few + 4 * 8
