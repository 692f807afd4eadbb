"""Finds misspellings in the class of a rewrite: members, ops of `replacement`, comparisons.

They are looked for when the class is made, without calling anything.
"""

from __future__ import annotations

import dis
import opcode
import sys
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch

from xductor.ir import aten, ops, prims
from xductor.ir.dialect.registry import UnknownOp
from xductor.ir.functions.op_functions import OpFunction, OpLibrary, RawFunction, is_loaded
from xductor.transforms.matching.keyword_arguments import check_keywords
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.passes.declared_attributes import PLACE, codes, names_used

_OPTIONAL_METHODS = ("instances", "uuid")


def check_members(cls: type, base: type, variables: Mapping[str, Any]) -> None:
    """Raise PatternError for a member of a rewrite's class that has no meaning and no use.

    Such a member is public, `base` does not have it, none of the methods names it, and it is

    - a method all of whose parameters are variables of the pattern, or
    - a value, unless it is annotated as a field (as the options of a dataclass are).

    Properties, class methods, static methods and nested classes are never taken for misspellings.
    """
    unknown = [
        (name, value)
        for owner in _classes(cls, base)
        for name, value in vars(owner).items()
        if not name.startswith("_") and not _is_known(name, base)
    ]
    if not unknown:
        return
    used = names_used(_classes(cls, base))
    for name, value in unknown:
        if name in used or not _may_be_meant(cls, name, value, variables):
            continue
        raise PatternError(
            f"{cls.__name__} has no use for `{name}`: it is not part of a rewrite, and no method "
            f"names it.{_guess(name, base)} A name that begins with an underscore is left alone"
        )


def _classes(cls: type, base: type) -> list[type]:
    return [one for one in cls.__mro__ if issubclass(one, base) and one is not base]


def _is_known(name: str, base: type) -> bool:
    return (
        name in vars(base)
        or name in base.__annotations__
        or name in PLACE
        or name in _OPTIONAL_METHODS
    )


def _may_be_meant(cls: type, name: str, value: Any, variables: Mapping[str, Any]) -> bool:
    if isinstance(value, FunctionType):
        code = value.__code__
        variadic = code.co_flags & 0x0C or code.co_kwonlyargcount
        given = code.co_varnames[1 : code.co_argcount]
        return not variadic and all(one in variables for one in given)
    if isinstance(value, type) or hasattr(value, "__get__"):
        return False
    return not any(_is_field(owner, name) for owner in cls.__mro__)


def _is_field(owner: type, name: str) -> bool:
    note = vars(owner).get("__annotations__", {}).get(name)
    return note is not None and "ClassVar" not in str(note)


def _guess(name: str, base: type) -> str:
    known = [*vars(base), *base.__annotations__, *PLACE, *_OPTIONAL_METHODS]
    public = [one for one in dict.fromkeys(known) if not one.startswith("_")]
    close = get_close_matches(name, public, n=1, cutoff=0.6)
    return f" Did you mean `{close[0]}`?" if close else ""


def check_ops(rewrite: str, method: Callable[..., Any]) -> None:
    """Raise PatternError if a method names an op that does not exist.

    Only op functions that its own code names are checked, such as `aten.sin` and
    `ops.mylib.fused.default`, not those of functions that it calls. An op of a library that is not
    imported yet is left for later.
    """
    function = getattr(method, "__func__", method)
    if not isinstance(function, FunctionType):
        return
    for path in _op_paths(function):
        try:
            path.check()
        except (AttributeError, UnknownOp) as error:
            raise PatternError(f"{rewrite}.{function.__name__}: {error}") from None
    for code, roots in _rooted_codes(function):
        check_keywords(rewrite, function, code, roots)


def check_comparisons(rewrite: str, method: Callable[..., Any]) -> None:
    """Raise PatternError for `x.device == "cpu"` and `x.dtype == "float32"`, which are always
    False, for `x.is_contiguous` without a call, which is always true, and for torch.Tensor, of
    which no variable is an instance.
    """
    function = getattr(method, "__func__", method)
    if not isinstance(function, FunctionType):
        return
    for code in codes(function.__code__):
        names = {"device", "dtype"} & set(code.co_names)
        if names and any(map(_texts, code.co_consts)):
            _check_texts(rewrite, code)
        if "is_contiguous" in code.co_names:
            _check_called(rewrite, code)
        if {"Tensor", "is_tensor"} & set(code.co_names):
            _check_kinds(rewrite, code, function.__globals__)


def _check_called(rewrite: str, code: CodeType) -> None:
    """Check that `is_contiguous`, a method, is called where it is read."""
    line = code.co_firstlineno
    for one in dis.get_instructions(code):
        line = (one.positions.lineno if one.positions else None) or line
        called = _SHIFTED and bool((one.arg or 0) & 1)
        if one.opname == "LOAD_ATTR" and one.argval == "is_contiguous" and not called:
            raise PatternError(
                f"{rewrite}.{code.co_name} ({code.co_filename}:{line}): `is_contiguous` is a "
                "method, which is true without a call; write `is_contiguous()`"
            )


def _check_kinds(rewrite: str, code: CodeType, names: Mapping[str, Any]) -> None:
    """Check that a variable is not asked whether it is a tensor of torch."""
    line, module = code.co_firstlineno, False
    for one in dis.get_instructions(code):
        line = (one.positions.lineno if one.positions else None) or line
        if module and one.argval in ("Tensor", "is_tensor"):
            raise PatternError(
                f"{rewrite}.{code.co_name} ({code.co_filename}:{line}): a tensor variable holds no "
                f"data and is no torch.Tensor, so `torch.{one.argval}` is never true of it; ask "
                "isinstance(x, xductor.Tensor)"
            )
        module = one.opname == "LOAD_GLOBAL" and names.get(str(one.argval)) is torch


_INSTEAD_OF_TEXT = {
    "device": "compare `.device.type`, or with torch.device(...)",
    "dtype": "compare with torch.float32 and the like",
}


def _check_texts(rewrite: str, code: CodeType) -> None:
    before: list[dis.Instruction] = []
    line = code.co_firstlineno
    for one in dis.get_instructions(code):
        line = (one.positions.lineno if one.positions else None) or line
        if one.opname in ("COMPARE_OP", "CONTAINS_OP"):
            constants = [text for item in before[-3:] for text in _constants(item)]
            read = [item.argval for item in before[-2:] if item.opname == "LOAD_ATTR"]
            found = next((name for name in read if name in _INSTEAD_OF_TEXT), None)
            ends = before[-1].opname == "LOAD_CONST" or before[-1].argval == found
            if constants and found and ends:
                raise PatternError(
                    f"{rewrite}.{code.co_name} ({code.co_filename}:{line}): a {found} is not equal "
                    f"to {constants[0]!r}; {_INSTEAD_OF_TEXT[found]}"
                )
        before.append(one)


def _constants(one: dis.Instruction) -> list[str]:
    return _texts(one.argval) if one.opname == "LOAD_CONST" else []


def _texts(constant: object) -> list[str]:
    """The strings that a constant is or holds."""
    items = constant if isinstance(constant, tuple | frozenset) else (constant,)
    return sorted(item for item in items if isinstance(item, str))


class _Path:
    """An op function or a library, and the chain of attributes that are read from it."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.names: list[str] = []
        self.called = False

    def check(self) -> None:
        """Raise AttributeError or UnknownOp if the path leads to nothing."""
        found = self.root
        for name in self.names:
            if name.startswith("__"):
                return
            if isinstance(found, OpLibrary) and not is_loaded(found):
                return
            if isinstance(found, OpFunction) and found.has_overload(name):
                return
            found = getattr(found, name)
        if isinstance(found, RawFunction) and self.called:
            _ = found.op_class


_OURS = (aten, prims, ops)
_OP_FUNCTIONS = (OpLibrary, OpFunction, RawFunction)

_LOAD_GLOBAL = opcode.opmap["LOAD_GLOBAL"]
_LOAD_DEREF = opcode.opmap["LOAD_DEREF"]
_LOAD_ATTR = opcode.opmap["LOAD_ATTR"]
_LOAD_METHOD = opcode.opmap.get("LOAD_METHOD", -1)
#: Whether the lowest bit of LOAD_ATTR's argument says whether a method is called.
_SHIFTED = sys.version_info >= (3, 12)


def _op_paths(function: FunctionType) -> Iterator[_Path]:
    for code, roots in _rooted_codes(function):
        yield from _paths(code, roots)


def _rooted_codes(function: FunctionType) -> Iterator[tuple[CodeType, dict[str, Any]]]:
    """The code objects of a function, with the op functions and libraries that they name."""
    cells = function.__closure__ or ()
    closure: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            closure[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    for code in codes(function.__code__):
        names = {name: function.__globals__.get(name) for name in code.co_names}
        roots = {name: value for name, value in {**names, **closure}.items() if _is_root(value)}
        if roots:
            yield code, roots


def _is_root(value: Any) -> bool:
    return isinstance(value, _OP_FUNCTIONS) or (isinstance(value, ModuleType) and value in _OURS)


def _paths(code: CodeType, roots: Mapping[str, Any]) -> Iterator[_Path]:
    path: _Path | None = None
    units, names, extended = code.co_code, code.co_names, 0
    for offset in range(0, len(units), 2):
        op, argument = units[offset], units[offset + 1] | extended
        if not op:  # an inline cache entry of the interpreter
            continue
        extended = 0
        if op == opcode.EXTENDED_ARG:
            extended = argument << 8
        elif path is not None and op in (_LOAD_ATTR, _LOAD_METHOD):
            shifted = op == _LOAD_ATTR and _SHIFTED
            path.names.append(names[argument >> 1 if shifted else argument])
            path.called = op == _LOAD_METHOD or (shifted and bool(argument & 1))
        else:
            if path is not None:
                yield path
            path = None
            if op in (_LOAD_GLOBAL, _LOAD_DEREF):
                name = _loaded(code, op, argument)
                path = _Path(roots[name]) if name in roots else None
    if path is not None:
        yield path


def _loaded(code: CodeType, op: int, argument: int) -> str:
    if op == _LOAD_GLOBAL:
        return code.co_names[argument >> 1]
    name: str = code._varname_from_oparg(argument)  # type: ignore[attr-defined]
    return name


__all__ = ["check_comparisons", "check_members", "check_ops"]
