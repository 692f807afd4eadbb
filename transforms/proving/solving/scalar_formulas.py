"""Elements as z3 terms: IEEE floats, two's complement integers, truth values.

What is no arithmetic is opaque: an element of an input is a variable, and a function of libm an
uninterpreted function. The caller says which elements are the same variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from xductor.transforms.proving.solving.solver import BITS, FLOAT_FORMATS, z3_module
from xductor.transforms.semantics.terms import BOOL, Sort, Term, constant_value

NARROW = (torch.float16, torch.bfloat16)
#: Operations that round once, whether done narrow or done wide and then rounded: a product of two
#: significands of 11 bits is exact in 24, and sums round alike.
_SAME_ROUNDED = ("add", "sub", "mul")


class NotInterpreted(Exception):
    """A term that has no form in z3."""


class Formulas:
    """Elements in z3. `variable_of` gives the name of the variable for a leaf."""

    def __init__(self, variable_of: Callable[[Term], str]) -> None:
        self.z3 = z3_module()
        self.variable_of = variable_of
        self.known: dict[Term, Any] = {}
        self.leaves: dict[str, tuple[Term, Any]] = {}
        self.rounding = self.z3.RNE()

    def sort(self, sort: Sort) -> Any:
        z3 = self.z3
        if sort == BOOL:
            return z3.BoolSort()
        if sort in FLOAT_FORMATS:
            return z3.FPSort(*FLOAT_FORMATS[sort])
        if sort in BITS:
            return z3.BitVecSort(BITS[sort])
        raise NotInterpreted(f"elements of {sort}")

    def lower(self, item: Term) -> Any:
        found = self.known.get(item)
        if found is None:
            found = self.known[item] = self._lowered(item)
        return found

    def _lowered(self, item: Term) -> Any:
        z3, op, args = self.z3, item.op, item.args
        plain = constant_value(item)
        if plain is not None:
            return self._constant(plain, item.sort)
        if op in ("element", "scalar", "fold", "zero", "nonneg"):
            return self._leaf(item)
        if op == "ite":
            return z3.If(*map(self.lower, args))
        if op in ("and", "or"):
            return (z3.And if op == "and" else z3.Or)(*map(self.lower, args))
        if op == "not":
            return z3.Not(self.lower(args[0]))
        if op == "cast":
            return self._cast(args[0], item.sort)
        if op == "call":
            if args[0] == "index":
                return self._leaf(item)
            return self._call(args[0], [self.lower(one) for one in args[1:]], args[1:], item.sort)
        raise NotInterpreted(f"{op} in {item}")

    def _leaf(self, item: Term) -> Any:
        name = self.variable_of(item)
        found = self.leaves.get(name)
        if found is None:
            found = self.leaves[name] = (item, self.z3.Const(name, self.sort(item.sort)))
        return found[1]

    def _constant(self, plain: float | bool, sort: Sort) -> Any:
        z3 = self.z3
        if sort == BOOL:
            return z3.BoolVal(bool(plain))
        if sort in BITS:
            return z3.BitVecVal(int(plain), BITS[sort])
        target = self.sort(sort)
        if math.isnan(plain):
            return z3.fpNaN(target)
        if math.isinf(plain):
            return z3.fpInfinity(target, plain < 0)
        if plain == 0:
            return z3.fpZero(target, math.copysign(1.0, plain) < 0)
        return z3.FPVal(plain, target)

    def _cast(self, source: Term, target: Sort) -> Any:
        z3 = self.z3
        narrow = self._narrow_arithmetic(source, target)
        if narrow is not None:
            return narrow
        inner = self.lower(source)
        if target == BOOL:
            if source.sort in FLOAT_FORMATS:
                return z3.Not(z3.fpIsZero(inner))
            return inner != 0
        if source.sort == BOOL:
            return z3.If(inner, self._constant(1, target), self._constant(0, target))
        if target in FLOAT_FORMATS:
            if source.sort in FLOAT_FORMATS:
                return z3.fpFPToFP(self.rounding, inner, self.sort(target))
            convert = z3.fpUnsignedToFP if source.sort is torch.uint8 else z3.fpSignedToFP
            return convert(self.rounding, inner, self.sort(target))
        if source.sort in FLOAT_FORMATS:
            return self._to_integer(inner, source.sort, target)
        return self._resized(inner, source.sort, target)

    def _narrow_arithmetic(self, source: Term, target: Sort) -> Any:
        """`float16(a + b)` of widened operands as one sum of float16, which gives the same bits."""
        if target not in NARROW or source.sort is not torch.float32 or source.op != "call":
            return None
        name, *items = source.args
        if name in ("neg", "abs", "max", "min") or name in _SAME_ROUNDED:
            inner = [one.args[0] if one.op == "cast" else None for one in items]
            plain = [one is not None and one.sort == target for one in inner]
            if all(plain):
                lowered = [self.lower(one) for one in inner if one is not None]
                return self._call(name, lowered, tuple(o for o in inner if o is not None), target)
        return None

    def _to_integer(self, inner: Any, source: Sort, target: Sort) -> Any:
        """Round toward zero; out of range, equal bits give the same unknown number."""
        z3 = self.z3
        bits = BITS[target]  # type: ignore[index]
        unsigned = target is torch.uint8
        low = 0 if unsigned else -(1 << (bits - 1))
        high = (1 << (bits if unsigned else bits - 1)) - 1
        wide = z3.FPSort(11, 53) if bits < 64 else z3.FPSort(15, 113)
        exact = z3.fpFPToFP(self.rounding, inner, wide)
        inside = z3.And(
            z3.fpLT(z3.FPVal(low - 1, wide), exact), z3.fpLT(exact, z3.FPVal(high + 1, wide))
        )
        convert = z3.fpToUBV if unsigned else z3.fpToSBV
        name = f"overflow {source} {target}"
        unknown = z3.Function(name, inner.sort(), z3.BitVecSort(bits))
        return z3.If(inside, convert(z3.RTZ(), inner, z3.BitVecSort(bits)), unknown(inner))

    def _resized(self, inner: Any, source: Sort, target: Sort) -> Any:
        z3 = self.z3
        have, want = BITS[source], BITS[target]  # type: ignore[index]
        if want < have:
            return z3.Extract(want - 1, 0, inner)
        if want == have:
            return inner
        extend = z3.ZeroExt if source is torch.uint8 else z3.SignExt
        return extend(want - have, inner)

    def _call(self, name: str, items: list[Any], terms: tuple[Term, ...], sort: Sort) -> Any:
        z3 = self.z3
        if name.startswith("u."):
            domain = [one.sort() for one in items]
            return z3.Function(name, *domain, self.sort(sort))(*items)
        if terms[0].sort in FLOAT_FORMATS:
            return self._float_call(name, items)
        if terms[0].sort == BOOL:
            raise NotInterpreted(f"{name} of truth values")
        return self._integer_call(name, items, terms[0].sort is torch.uint8)

    def _float_call(self, name: str, items: list[Any]) -> Any:
        z3, mode = self.z3, self.rounding
        rounding = {"floor": z3.RTN, "ceil": z3.RTP, "trunc": z3.RTZ, "round": z3.RNE}
        if name in ("add", "sub", "mul", "div"):
            operation = {"add": z3.fpAdd, "sub": z3.fpSub, "mul": z3.fpMul, "div": z3.fpDiv}
            return operation[name](mode, *items)
        if name in rounding:
            return z3.fpRoundToIntegral(rounding[name](), items[0])
        if name in ("max", "min"):
            return self._extreme(name, *items)
        simple = {
            "neg": z3.fpNeg,
            "abs": z3.fpAbs,
            "lt": z3.fpLT,
            "le": z3.fpLEQ,
            "eq": z3.fpEQ,
            "isnan": z3.fpIsNaN,
        }
        if name not in simple:
            raise NotInterpreted(f"{name} of floats")
        return simple[name](*items)

    def _extreme(self, name: str, a: Any, b: Any) -> Any:
        """NaN if one is; of zeros of both signs an unknown one, since kernels differ."""
        z3 = self.z3
        zeros = z3.And(z3.fpIsZero(a), z3.fpIsZero(b), a != b)
        first, second = z3.Bools(f"zero-of-{name} negative-zero-of-{name}")
        unknown = z3.If(z3.fpIsNegative(a), second, first)
        either = z3.If(unknown, z3.fpZero(a.sort(), False), z3.fpZero(a.sort(), True))
        chosen = z3.If(z3.fpLT(a, b), b, a) if name == "max" else z3.If(z3.fpLT(a, b), a, b)
        nan = z3.Or(z3.fpIsNaN(a), z3.fpIsNaN(b))
        return z3.If(nan, z3.fpNaN(a.sort()), z3.If(zeros, either, chosen))

    def _integer_call(self, name: str, items: list[Any], unsigned: bool) -> Any:
        z3 = self.z3
        if name in ("add", "sub", "mul", "and", "or", "xor"):
            a, b = items
            return {
                "add": lambda: a + b,
                "sub": lambda: a - b,
                "mul": lambda: a * b,
                "and": lambda: a & b,
                "or": lambda: a | b,
                "xor": lambda: a ^ b,
            }[name]()
        if name in ("neg", "not"):
            return -items[0] if name == "neg" else ~items[0]
        if name == "abs":
            return items[0] if unsigned else z3.If(items[0] < 0, -items[0], items[0])
        a, b = items
        less = z3.ULT(a, b) if unsigned else a < b
        if name in ("lt", "le"):
            return less if name == "lt" else z3.Or(less, a == b)
        if name == "eq":
            return a == b
        if name in ("max", "min"):
            return z3.If(less, b, a) if name == "max" else z3.If(less, a, b)
        return self._division(name, a, b, unsigned)

    def _division(self, name: str, a: Any, b: Any, unsigned: bool) -> Any:
        """A quotient or remainder; a division by zero gives an unknown function of `a`."""
        z3 = self.z3
        sort = a.sort()
        unknown = z3.Function(f"{name} by zero", sort, sort)(a)
        if unsigned:
            plain = z3.UDiv(a, b) if name in ("floordiv", "truncdiv") else z3.URem(a, b)
            return z3.If(b == 0, unknown, plain)
        rest = z3.SRem(a, b)
        if name == "truncdiv":
            plain = a / b
        elif name == "fmod":
            plain = rest
        elif name == "mod":
            plain = a % b
        elif name == "floordiv":
            apart = z3.And(rest != 0, (rest < 0) != (b < 0))
            plain = z3.If(apart, a / b - 1, a / b)
        else:
            raise NotInterpreted(f"{name} of integers")
        return z3.If(b == 0, unknown, plain)


__all__ = ["Formulas", "NotInterpreted"]
