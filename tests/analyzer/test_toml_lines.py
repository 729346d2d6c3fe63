"""Places of keys in TOML: every key that tomllib reads has one, and what stands there is that key."""

from __future__ import annotations

import random
import re
import tomllib
from typing import Any

import pytest

from analyzer.toml_lines import toml_lines, toml_places
from tests.support.profiles import MORE

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
        (("a", "b", "x y", "z"), (4, 7)),
        (("a", "b", "x y", "z", "k"), (4, 15)),
        (("a", "b", "x y", "z", "k", "1", "m"), (4, 25)),
        (("a", "b", "x y", "z", "n", "o"), (4, 37)),
        (("a", "b", "multi", "0"), (6, 3)),
        (("a", "b", "multi", "2"), (10, 3)),
        (("list", "0"), (12, 1)),
        (("list", "0", "sub", "m"), (15, 1)),
        (("list", "1", "k"), (17, 1)),
        (("list", "1", "é漢😀"), (19, 1)),
    ],
)
def test_places(path: tuple[str, ...], place: tuple[int, int]) -> None:
    assert toml_places(TEXT)[path] == place
    assert toml_places(TEXT.replace("\n", "\r\n"))[path] == place
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


@pytest.mark.parametrize("seed", range(300 * MORE))
def test_every_key_of_a_random_document_has_its_place(seed: int) -> None:
    text = _Writer(seed).document()
    places = toml_places(text)
    assert set(places) == _paths(tomllib.loads(text)), text
    lines = text.split("\n")
    for path, (line, column) in places.items():
        rest = lines[line - 1][column - 1 :]
        key = re.match(r"""\w+|"(?:[^"\\]|\\.)*"|'[^']*'""", rest)
        if not path[-1].isdigit() and not rest.startswith("["):
            assert key is not None, (path, rest)
            assert list(tomllib.loads(f"{key.group()} = 1")) == [path[-1]]
