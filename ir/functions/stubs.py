"""Writes `aten.pyi`, `prims.pyi` and `ops.pyi`, so that editors complete and check op functions.

    python -m xductor.ir.functions.stubs            write the stubs next to the modules
    python -m xductor.ir.functions.stubs --check    fail if they are out of date

All operators of `aten` and `prims` are listed, so that a misspelled one is an error. Signatures are
written for all of `prims`, and in `aten` for the core operators and those that Inductor's passes
mention; the others take anything. `ops` knows both libraries, and any other by `__getattr__`.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch._ops import OpOverload, OpOverloadPacket

from xductor.ir.dialect.registry import dispatcher_overloads
from xductor.ir.dialect.schema import Param, schema_table
from xductor.ir.functions.overload_resolution import _WRAP_NUMBERS

HERE = Path(__file__).parents[1]

_ARGUMENTS = {
    "tensor": "TensorArg",
    "int": "IntArg",
    "float": "FloatArg",
    "scalar": "ScalarArg",
    "bool": "BoolArg",
    "str": "StrArg",
    "dtype": "DtypeArg",
    "device": "DeviceArg",
    "layout": "LayoutArg",
    "memory_format": "MemoryFormatArg",
    "object": "ObjectArg",
}

_HEAD = '''\
"""{what}. Written by `python -m xductor.ir.functions.stubs` for torch {torch}; do not edit."""

# pyright: reportOverlappingOverload=false, reportUnusedImport=false

from typing import overload

from xductor.ir.functions.op_functions import OpFunction, OverloadFunction
from xductor.ir.functions.op_function_types import (
    Anything,
    BoolArg,
    DeviceArg,
    DtypeArg,
    FloatArg,
    IntArg,
    LayoutArg,
    Many,
    MemoryFormatArg,
    ObjectArg,
    Result,
    ScalarArg,
    StrArg,
    TensorArg,
    Value,
)
'''

_OPS = '''\
"""{what}. Written by `python -m xductor.ir.functions.stubs`; do not edit."""

from xductor.ir import aten as aten
from xductor.ir import prims as prims
from xductor.ir.functions.op_functions import OpLibrary, RawFunction

pyfn: RawFunction
method: RawFunction
higher_order: RawFunction

def __getattr__(library: str) -> OpLibrary: ...
'''


def stub_texts() -> dict[str, str]:
    """The stubs by file name."""
    return {
        "aten.pyi": _library("aten", "Op functions of `aten`", signatures_of_aten()),
        "prims.pyi": _library("prims", "Op functions of `prims`", set(operators("prims"))),
        "ops.pyi": _OPS.format(what="Op functions of every `torch.library` namespace"),
    }


@cache
def operators(library: str) -> tuple[str, ...]:
    """The names of a library's operators in the dispatcher that are Python identifiers."""
    import_module("torch._inductor.inductor_prims")  # registers Inductor's prims
    prefix = f"{library}::"
    names = {
        name.removeprefix(prefix).partition(".")[0]
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith(prefix)
    }
    return tuple(sorted(n for n in names if n.isidentifier() and not keyword.iskeyword(n)))


def signatures_of_aten() -> set[str]:
    """Operators whose signatures are written: core ATen, and those in Inductor's passes."""
    known = set(operators("aten"))
    core = {
        name
        for name in known
        if any(torch.Tag.core in overload.tags for overload in _overloads(_packet("aten", name)))
    }
    return core | (known & set(_mentioned_by_inductor()))


def _mentioned_by_inductor() -> Iterator[str]:
    import torch._inductor.fx_passes as passes

    for folder in passes.__path__:
        for path in sorted(Path(folder).rglob("*.py")):
            yield from re.findall(r"\baten\.(\w+)", path.read_text(encoding="utf-8"))


def _packet(library: str, name: str) -> OpOverloadPacket:
    return getattr(getattr(torch.ops, library), name)


def _overloads(packet: OpOverloadPacket) -> list[OpOverload]:
    return [getattr(packet, name) for name in dispatcher_overloads(packet)]


def _library(library: str, what: str, signed: set[str]) -> str:
    parts = [_HEAD.format(what=what, torch=torch.__version__.partition("+")[0])]
    parts += [
        "\n".join(_operator(_packet(library, name), name))
        for name in operators(library)
        if name in signed
    ]
    parts.append("\n".join(f"{n}: OpFunction" for n in operators(library) if n not in signed))
    return "\n".join(parts) + "\n"


def _operator(packet: OpOverloadPacket, name: str) -> Iterator[str]:
    """The classes of an operator and of its overloads, and the operator itself."""
    written: list[tuple[str, str]] = []
    for overload in _overloads(packet):
        own = overload._overloadname
        if own == "out" or own.endswith("_out"):
            continue
        signature = _signature(overload, name)
        if own.isidentifier() and not keyword.iskeyword(own):
            yield f"class _op_{name}__{own}(OverloadFunction):"
            yield f"    def __call__({signature}: ..."
        written.append((own, signature))
    yield f"class _op_{name}(OpFunction):"
    for own, _ in written:
        if own.isidentifier() and not keyword.iskeyword(own):
            yield f"    {own}: _op_{name}__{own}"
    distinct = list(dict.fromkeys(signature for _, signature in written))
    for signature in distinct:
        if len(distinct) > 1:
            yield "    @overload"
        yield f"    def __call__({signature}: ..."
    # A misspelled overload must be a type error; at run time any name passes until it is looked up.
    yield "    __getattr__: None  # type: ignore"
    yield f"{name}: _op_{name}"


def _signature(overload: OpOverload, name: str) -> str:
    """`_op, self: TensorArg, *, alpha: ScalarArg = ...) -> Result`."""
    table = schema_table(overload)
    parts = ["_op"]
    starred = False
    positional = [param for param in table.params if not param.kwarg_only]
    # A parameter without a default cannot follow one that has one.
    required = max((i for i, p in enumerate(positional) if not p.has_default), default=-1)
    for index, param in enumerate(table.params):
        if param.kwarg_only and not starred:
            parts.append("*")
            starred = True
        optional = param.has_default and (param.kwarg_only or index > required)
        parts.append(f"{_name(param)}: {_type(param, name)}{' = ...' if optional else ''}")
    return f"{', '.join(parts)}) -> {_returned(overload)}"


def _name(param: Param) -> str:
    return f"{param.name}_" if keyword.iskeyword(param.name) else param.name


def _type(param: Param, name: str) -> str:
    text = _ARGUMENTS[param.kind]
    if param.kind == "tensor" and not param.lists and name in _WRAP_NUMBERS:
        text += " | float"
    if param.optional_elements:
        text += " | None"
    for _ in range(param.lists):
        text = f"Many[{text}]"
    if param.lists:
        text += " | Value | Anything"
        if param.size is not None and param.kind != "tensor":
            text += f" | {_ARGUMENTS[param.kind]}"
    return f"{text} | None" if param.optional else text


def _returned(overload: OpOverload) -> str:
    returns: Sequence[Any] = overload._schema.returns
    types = ["list[Result]" if one.type.kind() == "ListType" else "Result" for one in returns]
    if not types:
        return "None"
    return types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"


def out_of_date(texts: dict[str, str]) -> list[str]:
    """Names of the stubs that differ from the files on disk."""
    return [
        name
        for name, text in texts.items()
        if not (HERE / name).exists() or (HERE / name).read_text(encoding="utf-8") != text
    ]


def main(arguments: Iterable[str]) -> int:
    """Write the stubs, or (`--check`) compare them; the exit status."""
    texts = stub_texts()
    if "--check" in arguments:
        old = out_of_date(texts)
        for name in old:
            print(
                f"ir/{name} is out of date; run: python -m xductor.ir.functions.stubs",
                file=sys.stderr,
            )
        return int(bool(old))
    for name, text in texts.items():
        (HERE / name).write_text(text, encoding="utf-8")
        print(f"ir/{name}: {text.count(chr(10))} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
