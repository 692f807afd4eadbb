"""How patterns compare the arguments of calls."""

from __future__ import annotations

from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.ir import ListArg, SymBoolType, SymExpr, SymFloatType, SymIntType, TensorType
from xductor.ir.dialect.arguments import FunctionArg, Pack, SizeArg, same_constant
from xductor.ir.functions.op_functions import OpFunction, OverloadFunction


def same_argument(pattern: Any, item: Any) -> bool:
    """Whether an argument is the constant or the operator that a pattern gives for it."""
    if isinstance(pattern, OpFunction | OverloadFunction):
        return isinstance(item, FunctionArg) and item.name in {
            cls.name for cls in pattern.overloads
        } | {f"torch.ops.{cls.name}" for cls in pattern.overloads}
    if type(pattern) in (tuple, list) and type(item) is ListArg:
        # A call of a Python function takes either for a list.
        pattern = frozen(list(pattern))
    return not isinstance(item, SSAValue) and same_constant(pattern, item)


def is_value(item: object) -> bool:
    return isinstance(item, SSAValue)


def plain(item: Any) -> Any:
    """A list argument as a plain list, whatever container the call has it in."""
    if type(item) in LISTS:
        return [plain(part) for part in item]
    return item


ONLY_INT = frozenset((int,))


LISTS = (ListArg, SizeArg, Pack, tuple, list)


def frozen(item: Any) -> Any:
    return ListArg([frozen(part) for part in item]) if isinstance(item, list) else item


VALUE_KINDS: dict[str, tuple[type, ...]] = {
    "int": (SymIntType,),
    "float": (SymFloatType,),
    "bool": (SymBoolType,),
    "scalar": (SymIntType, SymFloatType, SymBoolType),
}


CONSTANT_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int, SymExpr),
    "float": (float, SymExpr),
    "bool": (bool,),
    "scalar": (int, float, bool, complex, SymExpr),
    "str": (str,),
}


def has_kind(kind: str, item: Any) -> bool:
    if kind == "tensor":
        # Called for each operand of each match: the first test avoids an `isinstance` of an ABC.
        is_ssa = type(item) is OpResult or isinstance(item, SSAValue)
        return is_ssa and type(item._type) is TensorType
    if kind == "any":
        return True
    if kind == "list[int]" and type(item) is list and ONLY_INT.issuperset(map(type, item)):
        return True
    if kind.startswith("list["):
        return isinstance(item, list) and all(has_kind(kind[5:-1], part) for part in item)
    if isinstance(item, SSAValue):
        return isinstance(item.type, VALUE_KINDS.get(kind, ()))
    if kind == "int" and isinstance(item, bool):
        return False
    if kind in CONSTANT_KINDS:
        return isinstance(item, CONSTANT_KINDS[kind])
    return item is not None


__all__ = ["ONLY_INT", "frozen", "has_kind", "plain", "same_argument"]
