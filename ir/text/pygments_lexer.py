"""A Pygments lexer for the text of graphs, and for FileCheck tests made of it.

The entry point `pygments.lexers` names it, so that Sphinx, MkDocs, `rich` and `pygmentize` find it
as `mlir` or `xductor`. It imports neither torch nor xDSL: Pygments loads all such lexers to find
one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

_DTYPE = (
    r"(?:complex<f(?:16|32|64)>"
    r"|(?:bf16|f(?:16|32|64|8E\w+|4E\w+)|u?i(?:8|16|32|64)|i1|qu?i\w+|u?int[1-7]|bits\w+)\b)"
)
#: Words before the brackets of an argument or a type that has a form of its own.
_FORMS = ("complex", "device", "float", "fn", "layout", "memory_format", "opaque", "pack", "range",
          "size", "slice", "sym")  # fmt: skip
_WORDS = (
    "stage", "symbols", "ambient", "loc", "aliases", "as", "offset", "conj", "neg", "requires_grad",
    "parameter", "layout", "class", "hint", "int", "float", "positive", "nonnegative", "negative",
    "nonpositive", "unbacked", "pre_grad", "joint", "post_grad",
)  # fmt: skip


class GraphLexer(RegexLexer):
    """Tokens of `fx.graph` text: values, graphs, op names, types, arguments, comments."""

    name = "xductor IR"
    aliases: ClassVar[Sequence[str]] = ["mlir", "xductor"]
    filenames: ClassVar[Sequence[str]] = ["*.mlir"]
    url = "https://mlir.llvm.org"
    version_added = ""
    flags = re.MULTILINE

    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"(//\s*)([A-Z][A-Z-]+:)(.*$)",
             bygroups(Comment.Single, Comment.Special, Comment.Single)),
            (r"//.*$", Comment.Single),
            (r"\{-#|#-\}", Comment.Preproc),
            (r'%(?:[\w$.-]+|"(?:[^"\\]|\\.)*")(?:#\d+)?', Name.Variable),
            (r'@(?:[A-Za-z_][\w$.]*|"(?:[^"\\]|\\.)*")', Name.Function),
            (r'"(?:[^"\\]|\\.)*"', String.Double),
            (r"!fx\.\w+", Keyword.Type),
            (_DTYPE, Keyword.Type),
            (r"(?:fx\.(?:graph|output|get_attr|opaque_call)|builtin\.module)\b",
             Keyword.Declaration),
            (r"(?:none|true|false|-?inf|-?nan|int_oo|cpu|cuda|meta|xpu|mps)\b", Keyword.Constant),
            (words(_FORMS, suffix=r"(?=[<(])"), Name.Builtin.Pseudo),
            (r"([A-Za-z_]\w*)(\s*)(=)(?!=)", bygroups(Name.Attribute, Whitespace, Operator)),
            (r"[A-Za-z_]\w*(?:\.[\w$]+)+", Name.Builtin),
            (words(_WORDS, suffix=r"\b"), Keyword),
            (r"[a-z]{1,2}\d+\b", Name.Constant),
            (r"[A-Za-z_]\w*", Name),
            (r"-?(?:0[xX][0-9A-Fa-f]+|\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)", Number.Float),
            (r"-?\d+", Number.Integer),
            (r"->|\*\*|[-+*=^|]", Operator),
            (r"\.\.\.|[(){}\[\]<>,:;.#/]", Punctuation),
            (r".", Text),
        ],
    }  # fmt: skip
