"""Templates of dbt in a SQL text: models that stand for streams are read, all others are refused with words.

Positions stay those of the file: the text that is parsed has blanks in place of templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.catalog import CatalogNames
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.lexical import LexicalKind, Stretch, stretches
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import MODEL
from streambound.analyzer.syntax_errors import syntax_error

_SIGNS = ("{{", "{%", "{#")
_HARMLESS = {"{{": "}}", "{#": "#}"}
_OPENS_HARMLESS = re.compile(r"\{\{|\{#")
_OPENS = re.compile(r"\{\{|\{%")
_INSIDE = r"""(?:'[^']*'|"[^"]*"|[^'"])*?"""
_WHOLE = re.compile(rf"\{{\{{{_INSIDE}\}}\}}|\{{%{_INSIDE}%\}}", re.S)
_TEXT = r"""\s*(?:'([^']*)'|"([^"]*)")\s*"""
_MODEL = re.compile(rf"\{{\{{[-+]?\s*(?:ref\({_TEXT}(?:,{_TEXT})?\)|source\({_TEXT},{_TEXT}\))\s*[-+]?\}}\}}")
_ENDS = r"\s*[-+]?\}\}"
_VAR = re.compile(rf"\{{\{{[-+]?\s*var\({_TEXT}(?:,(?:{_TEXT}|\s*(-?[\w.]+)\s*))?\){_ENDS}")
_CONFIG = re.compile(r"\{\{[-+]?\s*config\(.*\)\s*[-+]?\}\}", re.S)
_BLOCK = re.compile(r"\{%[-+]?\s*+(if is_incremental\(\)|else|endif)\s*+[-+]?%\}")
_CALLED = re.compile(r"\{[{%][-+]?\s*(\w*)")
_NOT_BLANK = re.compile(r"[^\r\n]")
_QUOTED = (LexicalKind.STRING, LexicalKind.NAME)
_COMPILED = "check the SQL that dbt compile writes below target/compiled"


class Model(Struct, frozen=True):
    """A model in a text: its key in the catalog, its place, and the stream or relation that it stands for, if any."""

    key: str
    start: int
    end: int
    table: str | None

    @property
    def name(self) -> str:
        """The qualifier of its columns where it has no alias."""
        return self.key.rpartition(".")[2]


class Templates(Struct, frozen=True):
    """A text with templates replaced by blanks, models by names, and the diagnostics of wrong templates."""

    text: str
    models: Mapping[int, Model]
    refused: tuple[Diagnostic, ...] = ()

    def tokens(self, tokens: Sequence[Token]) -> list[Token]:
        """Tokens with each model as one, a quoted name."""
        return [_name(token, self.models[token.start]) if token.start in self.models else token for token in tokens]

    def tree(self, tree: exp.Expr) -> exp.Expr:
        """A tree, changed: the tables of models are streams or relations, under the models' names."""
        starts = {model.start: model for model in self.models.values()}
        for table in list(tree.find_all(exp.Table)) if starts else ():
            model = starts.get(table.this.meta.get("start", -1))
            if model is not None and model.table is not None:
                if not table.alias:
                    table.set("alias", exp.TableAlias(this=exp.to_identifier(model.name, quoted=True)))
                table.this.set("this", model.table)
                table.meta[MODEL] = True
        return tree

    def sql(self, tree: exp.Expr, start: int, end: int) -> str:
        """A stretch of the text as SQL by itself, once `tree` has changed its tree."""
        found, at = [], start
        tables = {table.this.meta.get("start"): table for table in tree.find_all(exp.Table)} if self.models else {}
        for model in sorted(self.models.values(), key=lambda model: model.start):
            if start <= model.start < end:
                table = tables.get(model.start)
                bare = exp.to_identifier(model.name, quoted=True) if table is None else table.this
                alias = table.args.get("alias") if table is not None else None
                implied = alias is not None and "start" not in alias.this.meta
                written = f"{bare.sql('spark')} AS {alias.sql('spark')}" if alias and implied else bare.sql("spark")
                found += [self.text[at : model.start], written]
                at = model.end
        return "".join((*found, self.text[at:end]))


def is_of_dbt(source: SourceText, names: CatalogNames) -> bool:
    """Whether a text is one of dbt: the catalog has models, or values of variables, or the text reads a model."""
    return bool(names.models or names.vars) or ("{{" in source.text and _MODEL.search(source.text) is not None)


def templates(source: SourceText, names: CatalogNames) -> Templates:
    """The templates of a text; comments ``{# … #}`` are some only in one of dbt.

    The value of a variable stands where its template begins, and blanks behind it.
    """
    text = source.text
    if not any(sign in text for sign in _SIGNS):
        return Templates(text, {})
    parts, known, refused, at = list[str](), dict[int, Model](), list[Diagnostic](), 0
    pieces = list(_pieces(text, is_of_dbt(source, names)))
    left_out = _later_runs(text, pieces)
    for start, end in sorted({*(piece for piece in pieces if not _within(piece, left_out)), *left_out}):
        found = None if (start, end) in left_out else _read(source, start, end, names)
        parts.append(text[at:start])
        parts.append(found if isinstance(found, str) else _blank(text[start:end]))
        if isinstance(found, Model):
            known[start + 1] = found
            parts[-1] = f" x{parts[-1][2:]}"  # apart from the word before it
        elif isinstance(found, Diagnostic):
            refused.append(found)
        at = end
    return Templates("".join((*parts, text[at:])), known, tuple(refused))


def _pieces(text: str, dbt: bool) -> Iterator[tuple[int, int]]:
    """Where templates are, and, in a project of dbt, quoted texts and comments with templates."""
    at, around = 0, next(stretches(text), None)
    opened = _OPENS.search(text)
    while opened is not None or around is not None:
        if around is not None and (opened is None or around.start < opened.start()):
            at = around.end
            if dbt and (around.closed if around.kind is LexicalKind.TEMPLATE_COMMENT else _hides(text, around)):
                yield around.start, at
        elif opened is not None:
            whole = _WHOLE.match(text, opened.start())
            yield opened.start(), whole.end() if whole else opened.end()
            if whole is None:
                return
            at = whole.end()
        if around is not None and around.start < at:
            around = next(stretches(text, at), None)
        if opened is not None and opened.start() < at:
            opened = _OPENS.search(text, at)


def _later_runs(text: str, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left out of an incremental model: what is read in its later runs alone, and the words around it.

    A stream has one run, over all rows: of ``{% if is_incremental() %} a {% else %} b {% endif %}`` it is b.
    """
    blocks = [(_BLOCK.match(text, start), start, end) for start, end in pieces if text.startswith("{%", start)]
    words = [(match[1] if match else "", start, end) for match, start, end in blocks]
    found, i = list[tuple[int, int]](), 0
    while i < len(words):
        word, start, _ = words[i]
        following = [one for one, _, _ in words[i + 1 : i + 3]]
        if word == "if is_incremental()" and following[:1] == ["endif"]:
            found.append((start, words[i + 1][2]))
            i += 1
        elif word == "if is_incremental()" and following == ["else", "endif"]:
            found += [(start, words[i + 1][2]), words[i + 2][1:]]
            i += 2
        i += 1
    return found


def _within(piece: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    return any(start <= piece[0] and piece[1] <= end for start, end in others)


def _hides(text: str, stretch: Stretch) -> bool:
    """Whether dbt reads a quoted text or comment otherwise than SQL does; what it puts into a comment stays one."""
    inside = text[stretch.start : stretch.end]
    inside = inside if stretch.kind in _QUOTED else _without_harmless(inside)
    return any(sign in inside for sign in _SIGNS)


def _without_harmless(text: str) -> str:
    """A text without its templates that dbt replaces, and without its comments; what does not end stays.

    >>> _without_harmless("a {{ b }} c {# d #} {{ e {% f")
    'a  c  {{ e {% f'
    """
    parts, at = list[str](), 0
    while opened := _OPENS_HARMLESS.search(text, at):
        end = text.find(_HARMLESS[opened[0]], opened.end())
        if end < 0:
            break
        parts.append(text[at : opened.start()])
        at = end + 2
    return "".join((*parts, text[at:]))


def _read(source: SourceText, start: int, end: int, names: CatalogNames) -> Model | Diagnostic | str | None:
    """A template, read: a model, the value of a variable, None for nothing, or a diagnostic."""
    text, span = source.text[start:end], source.span(start, end)
    if variables := list(_VAR.finditer(text)):
        return _with_values(source, start, end, variables, names.vars)
    if model := _MODEL.fullmatch(text):
        key = ".".join(part for part in model.groups() if part is not None)
        if table := names.model(key):
            return Model(key, start, end, table)
        message = f"the model {key} stands for no stream, relation or registered file"
        shown = key if key.isidentifier() else f'"{key}"'
        help = f'say which one in the catalog: [dbt] models = {{ {shown} = "…" }}'
        return Diagnostic(Code.UNSUPPORTED, message, source.file, span, help)
    if text.startswith("{#") or _CONFIG.fullmatch(text):
        return None
    if text in ("{{", "{%"):
        return syntax_error(source, span, "this template is never closed")
    if not text.startswith("{"):
        return Diagnostic(
            Code.UNSUPPORTED, "a template in quotes or in a comment is not read", source.file, span, _COMPILED
        )
    called = _CALLED.match(text)
    shown = f"{text[:2]} {called.group(1) if called else ''} … {text[-2:]}".replace("  ", " ")
    return Diagnostic(Code.UNSUPPORTED, f"the template {shown} is not read", source.file, span, _COMPILED)


def _with_values(
    source: SourceText, start: int, end: int, variables: Sequence[re.Match[str]], values: Mapping[str, str]
) -> str | Diagnostic:
    """A template, or a text in quotes, with the values of its variables, as long as before."""
    text, span = source.text[start:end], source.span(start, end)
    known = [_value(one, values) for one in variables]
    if None in known:
        name = next(one[1] or one[2] for one, value in zip(variables, known, strict=True) if value is None)
        message, help = (
            f"the variable {name} has no value",
            f"say it in the catalog, [dbt] vars = {{ {name} = … }}; or {_COMPILED}",
        )
        return Diagnostic(Code.UNSUPPORTED, message, source.file, span, help)
    made = _VAR.sub(lambda one: _value(one, values) or "", text)
    follows = source.text[end : end + 1]
    joined = len(made) < len(text) and (follows.isalnum() or follows in ("_", "{", "'", '"', "`"))
    rest = any(sign in made for sign in _SIGNS) or any(sign in (value or "") for sign in "'\"`\\" for value in known)
    if rest or joined or len(made) > len(text) or "\n" in text[: len(made)]:
        message = "a variable is read whose value is plain, no longer than its template, and ends with it"
        return Diagnostic(Code.UNSUPPORTED, message, source.file, span, _COMPILED)
    return made + _blank(text[len(made) :])


def _value(variable: re.Match[str], values: Mapping[str, str]) -> str | None:
    """The value of a variable: the catalog's, or its own default."""
    name, defaults = variable[1] if variable[1] is not None else variable[2], variable.groups()[2:]
    return values.get(name, next((one for one in defaults if one is not None), None))


def _blank(text: str) -> str:
    return _NOT_BLANK.sub(" ", text)


def _name(token: Token, model: Model) -> Token:
    return Token(
        TokenType.IDENTIFIER, model.name, line=token.line, col=token.col, start=model.start, end=model.end - 1,
        comments=token.comments,
    )  # fmt: skip
