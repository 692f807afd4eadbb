"""The Pygments lexer and the TextMate grammar: both see the same in each text."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

from xductor.ir.text.pygments_lexer import GraphLexer

ROOT = Path(__file__).resolve().parents[3]
EDITOR = ROOT / "editors/vscode"
GRAMMAR: dict[str, Any] = json.loads(
    (EDITOR / "syntaxes/xductor.tmLanguage.json").read_text(encoding="utf-8")
)
FILES = sorted((ROOT / "tests/filecheck").rglob("*.mlir"))

SAMPLE = """\
// CHECK-NEXT: %mm = aten.mm.default
fx.graph @forward stage(joint) symbols(s0 : int positive [2, 64]) (%x : !fx.tensor<f32[s0]>) {
  %y#1 = aten.to.dtype %x, complex<f32> : !fx.tensor<complex<f32>[s0, 4][8, 1], cpu, offset 3>
  fx.opaque_call {node = "a \\"b"} loc("m.py":7)
  %z = pyfn.torch.clamp %y, -inf, 1.5, device = device<cuda:0> : !fx.object<"dict">  // why
  fx.output (%z, none, 3)
}
"""

SCOPES = {
    Comment.Single: "comment.line.double-slash.mlir",
    Comment.Special: "keyword.other.filecheck.mlir",
    Comment.Preproc: "meta.preprocessor.mlir",
    Name.Variable: "variable.other.value.mlir",
    Name.Function: "entity.name.function.mlir",
    Name.Builtin: "support.function.mlir",
    Name.Builtin.Pseudo: "support.type.mlir",
    Name.Attribute: "entity.other.attribute-name.mlir",
    Name.Constant: "variable.parameter.symbol.mlir",
    Name: "meta.word.mlir",
    String.Double: "string.quoted.double.mlir",
    Keyword: "keyword.other.mlir",
    Keyword.Type: "storage.type.mlir",
    Keyword.Declaration: "keyword.control.mlir",
    Keyword.Constant: "constant.language.mlir",
    Number.Integer: "constant.numeric.mlir",
    Number.Float: "constant.numeric.mlir",
    Operator: "keyword.operator.mlir",
    Punctuation: "",
    Whitespace: "",
}


def scoped(text: str) -> Iterator[tuple[str, str]]:
    """Scope and text, as an editor has them: at each place the first pattern that begins there."""
    patterns = [(re.compile(one["match"]), one) for one in GRAMMAR["patterns"]]
    for line in text.splitlines():
        at = 0
        while at < len(line):
            found = [
                (match.start(), rank, match, one)
                for rank, (pattern, one) in enumerate(patterns)
                if (match := pattern.search(line, at)) and match.end() > match.start()
            ]
            if not found:
                break
            _, _, match, one = min(found, key=lambda each: each[:2])
            captures = one.get("captures", {"0": one})
            for group, capture in captures.items():
                if match[int(group)]:
                    yield capture["name"], match[int(group)]
            at = match.end()


def lexed(text: str) -> Iterator[tuple[str, str]]:
    """The same of Pygments' tokens; what has no scope is left out."""
    for token, value in GraphLexer().get_tokens(text):
        if SCOPES[token] and value:
            yield SCOPES[token], value


def test_the_sample_has_the_scopes_that_it_should_have() -> None:
    found = {value: scope for scope, value in scoped(SAMPLE)}
    assert found["CHECK-NEXT:"] == "keyword.other.filecheck.mlir"
    assert found["fx.graph"] == "keyword.control.mlir"
    assert found["@forward"] == "entity.name.function.mlir"
    assert found["joint"] == "keyword.other.mlir"
    assert found["s0"] == "variable.parameter.symbol.mlir"
    assert found["!fx.tensor"] == found["f32"] == found["complex<f32>"] == "storage.type.mlir"
    assert found["%y#1"] == "variable.other.value.mlir"
    assert found["aten.to.dtype"] == found["pyfn.torch.clamp"] == "support.function.mlir"
    assert found['"a \\"b"'] == "string.quoted.double.mlir"
    assert found["node"] == "entity.other.attribute-name.mlir"
    assert found["device"] == "support.type.mlir"
    assert found["-inf"] == found["none"] == "constant.language.mlir"
    assert found["1.5"] == found["7"] == "constant.numeric.mlir"
    assert found["// why"] == "comment.line.double-slash.mlir"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_lexer_and_grammar_agree_on_every_filecheck_test(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert list(scoped(text)) == list(lexed(text))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_character_is_left_uncoloured(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tokens = list(GraphLexer(stripnl=False).get_tokens(text))
    assert "".join(value for _, value in tokens) == text
    assert [value for token, value in tokens if token in (Error, Text)] == []


def test_unknown_characters_are_seen() -> None:
    """The check itself."""
    assert (Text, "?") in GraphLexer().get_tokens("?")


def test_pygments_finds_the_lexer_under_its_names() -> None:
    (entry,) = [one for one in _declared() if one.endswith(":GraphLexer")]
    assert entry == f"{GraphLexer.__module__}:GraphLexer"
    assert GraphLexer.aliases == ["mlir", "xductor"]


def _declared() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["entry-points"]["pygments.lexers"].values())


def test_the_extension_names_files_that_are_there() -> None:
    package = json.loads((EDITOR / "package.json").read_text(encoding="utf-8"))["contributes"]
    (language,) = package["languages"]
    (grammar,) = package["grammars"]
    assert (EDITOR / language["configuration"]).is_file()
    assert (EDITOR / grammar["path"]).is_file()
    assert grammar["scopeName"] == GRAMMAR["scopeName"]
    assert grammar["language"] == language["id"]
    assert re.match(language["firstLine"], "fx.graph @forward stage(joint)")
