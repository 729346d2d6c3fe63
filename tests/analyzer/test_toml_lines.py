"""Places of keys in TOML: every key that tomllib reads has one, and what stands there is that key."""

from __future__ import annotations

import random
import re
import tomllib
from typing import Any

import pytest

from streambound.analyzer.spans import SourceText
from streambound.analyzer.toml_lines import toml_lines, toml_spans
from support.profiles import MORE

TEXT = """\
# a comment with [brackets] and a = b
top = 1
[a.b]   # header
"x y".'z' = { k = [1, { m = 2 }], n.o = "}" }
multi = [
  "]", # not the end
  '''
  a = 1
  ''',
  3,
]
[[list]]
k = 1
[list.sub]
m = 2
[[list]]
k = \"\"\" " ]]
b = 1 \"\"\"
é漢😀 = 1
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("top",), (2, 1)),
        (("a", "b"), (3, 1)),
        (("a", "b", "x y"), (4, 1)),
        (("a", "b", "x y", "z"), (4, 1)),
        (("a", "b", "x y", "z", "k"), (4, 15)),
        (("a", "b", "x y", "z", "k", "1", "m"), (4, 25)),
        (("a", "b", "x y", "z", "n", "o"), (4, 35)),
        (("a", "b", "multi", "0"), (6, 3)),
        (("a", "b", "multi", "2"), (10, 3)),
        (("list", "0"), (12, 1)),
        (("list", "0", "sub", "m"), (15, 1)),
        (("list", "1", "k"), (17, 1)),
        (("list", "1", "é漢😀"), (19, 1)),
    ],
)
def test_places(path: tuple[str, ...], place: tuple[int, int]) -> None:
    for text in (TEXT, TEXT.replace("\n", "\r\n")):
        span = toml_spans(SourceText("c.toml", text))[path]
        assert (span.line, span.column) == place
    assert toml_lines(TEXT)[path] == place[0]


def _paths(value: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found = {path} if path else set()
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found |= _paths(inner, (*path, str(key)))
    return found


class _Writer:
    """Writes a random document in random ways."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.names = iter(range(10_000))

    def key(self) -> str:
        name = f"k{next(self.names)}"
        return self.choose.choice([name, f'"{name} \\"é."', f"'{name}#['", f'"\\u00e9{name}"'])

    def value(self, depth: int) -> str:
        kind = self.choose.choice(["plain", "text", "array", "table"] if depth < 3 else ["plain", "text"])
        if kind == "plain":
            return self.choose.choice(["1", "-2.5", "true", "2024-01-31", "2024-01-31T10:00:00Z", "0xff"])
        if kind == "text":
            texts = ['"a # b"', "'[x]'", '"""\na = 1\n"""', "'''\n[y]\n'''", '"\\"}"', '""']
            return self.choose.choice(texts)
        inner = [self.value(depth + 1) for _ in range(self.choose.randint(0, 3))]
        if kind == "array":
            space = self.choose.choice(["", " ", "\n  # c ]\n  "])
            return f"[{space}{f',{space}'.join(inner)}{space}]"
        return "{ " + ", ".join(f"{self.key()} = {one}" for one in inner if "\n" not in one) + " }"

    def document(self) -> str:
        lines = []
        for _ in range(self.choose.randint(1, 8)):
            kind = self.choose.choice(["pair", "pair", "dotted", "table", "array", "again", "comment"])
            match kind:
                case "pair":
                    lines.append(f"{self.key()} = {self.value(0)}  # {self.key()} = 1")
                case "dotted":
                    lines.append(f"  {self.key()} . {self.key()}={self.value(0)}")
                case "table":
                    lines.append(f"[ {self.key()} .{self.key()}]")
                case "array" | "again":
                    name = self.key()
                    lines += [f"[[{name}]]", f"{self.key()} = 1", f"[[{name}]]", f"[{name}.{self.key()}]"]
                case _:
                    lines.append("# [x]")
        return "\n".join(lines)


@pytest.mark.parametrize("seed", range(150 * MORE))
def test_every_key_of_a_random_document_has_its_place(seed: int) -> None:
    text = _Writer(seed).document()
    places = {path: (span.line, span.column) for path, span in toml_spans(SourceText("c.toml", text)).items()}
    assert set(places) == _paths(tomllib.loads(text)), text
    lines = text.split("\n")
    for path, (line, column) in places.items():
        rest = lines[line - 1][column - 1 :]
        if not path[-1].isdigit() and not rest.startswith("["):
            dotted = re.match(r"""(?:\w+|"(?:[^"\\]|\\.)*"|'[^']*'|[ .])+""", rest)
            assert dotted is not None, (path, rest)
            assert path[-1] in _keys(tomllib.loads(f"{dotted.group()} = 1"))


def test_a_span_has_the_value_where_it_ends_on_its_line() -> None:
    spans = toml_spans(SourceText("c.toml", TEXT))
    shown = {path: TEXT[span.start : span.end] for path, span in spans.items()}
    assert shown["top",] == "top = 1"
    assert shown["a", "b"] == "[a.b]"
    assert shown["a", "b", "x y", "z", "k", "1", "m"] == "m = 2"
    assert shown["a", "b", "x y", "z", "n", "o"] == 'n.o = "}"'
    assert shown["a", "b", "multi"] == "multi"
    assert shown["a", "b", "multi", "2"] == "3"
    assert shown["list", "1"] == "[[list]]"


def _keys(value: Any) -> set[str]:
    return {key for key, inner in value.items() for key in {key, *(_keys(inner) if isinstance(inner, dict) else ())}}
