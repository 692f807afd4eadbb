"""Evaluates terms for given tensors: what an op gives according to its meaning."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from xductor.transforms.semantics.kernels import KERNELS, PREFIX
from xductor.transforms.semantics.registry import meaning_of
from xductor.transforms.semantics.scalars import TRANSCENDENTAL
from xductor.transforms.semantics.terms import (
    BOOL,
    FALSE,
    TRUE,
    Term,
    as_int,
    constant_value,
    element,
)
from xductor.transforms.semantics.uninterpreted import FUNCTIONS as UNINTERPRETED
from xductor.transforms.semantics.uninterpreted import GENERATOR
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue


class Numbers:
    """A world in which all sizes are numbers."""

    def __init__(self) -> None:
        self.state = GENERATOR

    def draw(self, after: Callable[[Term], Term]) -> Term:
        """The state of the generator, which `after` then changes."""
        before = self.state
        self.state = after(before)
        return before

    def require(self, condition: Term, why: str) -> None:
        if condition is FALSE:
            raise Illegal(why)
        if condition is not TRUE:
            raise NoMeaning(f"{why}: not decided for numbers")

    def known(self, condition: Term) -> bool:
        return condition is TRUE

    def size(self, item: Term) -> Term:
        return item

    def one_of(self, cases: Sequence[tuple[Term, Any]], what: str) -> Any:
        for condition, item in cases:
            if condition is TRUE:
                return item
        raise NoMeaning(f"{what}: none of the cases")


def tensor_value(name: str, tensor: torch.Tensor) -> TensorValue:
    """A tensor as a value whose elements carry the given name."""
    dtype = tensor.dtype
    return TensorValue(list(tensor.shape), dtype, lambda index: element(name, index, dtype))


def result_of(op: str, arguments: Sequence[Any]) -> Any:
    """The result of an op for these arguments, as tensors, according to its meaning.

    Raises Illegal if the meaning refuses the call, NoMeaning if it has nothing to say.
    """
    function = meaning_of(op)
    if function is None:
        raise NoMeaning(op)
    inputs: dict[str, torch.Tensor] = {}

    def given(item: Any) -> Any:
        if isinstance(item, torch.Tensor):
            name = f"x{len(inputs)}"
            inputs[name] = item
            return tensor_value(name, item)
        if isinstance(item, list | tuple):
            return [given(one) for one in item]
        return item

    values = [given(item) for item in arguments]
    found = function(Numbers(), *values)
    if isinstance(found, list | tuple):
        return [materialised(one, inputs) for one in found]
    return materialised(found, inputs)


def materialised(value: TensorValue, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """A value whose sizes are numbers, as a tensor."""
    sizes = [as_int(size) for size in value.shape]
    shape = [size for size in sizes if size is not None]
    if len(shape) != len(sizes):
        raise NoMeaning(f"a size that is no number: {value.shape}")
    result = torch.empty(shape, dtype=value.dtype)
    evaluation = Evaluation(inputs)
    for index in itertools.product(*map(range, shape)):
        result[index] = evaluation.element(value.element(index))
    return result


class Evaluation:
    """Evaluates terms, each once."""

    def __init__(self, inputs: Mapping[str, torch.Tensor], binders: Any = None) -> None:
        self.inputs = inputs
        self.known: dict[Term, Any] = dict(binders or {})

    def element(self, item: Term) -> torch.Tensor:
        """An element as a tensor of rank 0."""
        found = self._of(item)
        return found if isinstance(found, torch.Tensor) else torch.tensor(found)

    def _of(self, item: Term) -> Any:
        found = self.known.get(item)
        if found is None:
            found = self.known[item] = self._worked_out(item)
        return found

    def _worked_out(self, item: Term) -> Any:
        op, args = item.op, item.args
        plain = constant_value(item)
        if plain is not None:
            dtype = item.sort if isinstance(item.sort, torch.dtype) else torch.bool
            return torch.tensor(
                plain, dtype=torch.float64 if dtype.is_floating_point else dtype
            ).to(dtype)
        if op == "number":
            return args[0]
        if op == "poly":
            total = 0
            for monomial, factor in args[0]:
                for part in monomial:
                    factor *= self._of(part)
                total += factor
            return total
        if op == "element":
            return self.inputs[args[0]][tuple(self._of(one) for one in args[1])]
        if op == "value":
            return int(self._of(args[0]))
        if op == "linear":
            whole = 0
            for entry, size in zip(*args, strict=True):
                whole = whole * self._of(size) + self._of(entry)
            return whole
        if op == "digit":
            whole, place, sizes = args
            rest = self._of(whole)
            for size in reversed(sizes[place + 1 :]):
                rest //= self._of(size)
            return rest % self._of(sizes[place]) if place else rest
        if op == "cast":
            dtype = torch.bool if item.sort == BOOL else item.sort
            assert isinstance(dtype, torch.dtype)
            return self.element(args[0]).to(dtype)
        if op == "ite":
            return self._of(args[1] if self._of(args[0]) else args[2])
        if op == "fold":
            return self._folded(item)
        if op == "call":
            if args[0] == "index":
                return torch.tensor(self._of(args[1]))
            return FUNCTIONS[args[0]](*[self.element(one) for one in args[1:]])
        return _CONDITIONS[op](*[self._of(one) for one in args])

    def _folded(self, item: Term) -> torch.Tensor:
        name, binders, sizes, body = item.args
        from xductor.transforms.semantics.terms import var

        ranges = [range(self._of(size)) for size in sizes]
        found: list[torch.Tensor] = []
        for index in itertools.product(*ranges):
            inner = dict(zip(map(var, binders), index, strict=True))
            outer = {key: known for key, known in self.known.items() if key.op == "var"}
            found.append(Evaluation(self.inputs, outer | inner).element(body))
        dtype = item.sort if isinstance(item.sort, torch.dtype) else torch.bool
        return FOLDS[name](torch.stack(found) if found else torch.empty(0, dtype=dtype))


FOLDS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum": lambda items: torch.sum(items, dtype=items.dtype),
    "prod": lambda items: torch.prod(items, dtype=items.dtype),
    "max": lambda items: torch.amax(items, 0),
    "min": lambda items: torch.amin(items, 0),
    "argmax": torch.argmax,
    "argmin": torch.argmin,
    "any": torch.any,
    "all": torch.all,
}

_CONDITIONS: Mapping[str, Callable[..., Any]] = {
    "and": lambda *items: all(bool(one) for one in items),
    "or": lambda *items: any(bool(one) for one in items),
    "not": lambda item: not bool(item),
    "zero": lambda item: item == 0,
    "nonneg": lambda item: item >= 0,
    "quotient": lambda a, b: a // b,
    "modulo": lambda a, b: a % b,
}

#: The functions called in terms, as PyTorch's own scalar kernels.
FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "neg": torch.neg,
    "abs": torch.abs,
    "floor": torch.floor,
    "ceil": torch.ceil,
    "trunc": torch.trunc,
    "round": torch.round,
    "max": torch.maximum,
    "min": torch.minimum,
    "lt": torch.lt,
    "le": torch.le,
    "eq": torch.eq,
    "isnan": torch.isnan,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "not": torch.bitwise_not,
    "floordiv": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "truncdiv": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "mod": torch.remainder,
    "fmod": torch.fmod,
    "u.add_scaled": lambda a, b, alpha: torch.add(a, b, alpha=alpha.item()),
    "u.sub_scaled": lambda a, b, alpha: torch.sub(a, b, alpha=alpha.item()),
    "u.floor_divide": torch.floor_divide,
    "u.mod": torch.remainder,
    "u.fmod": torch.fmod,
    "u.pow": torch.pow,
    "u.round": lambda x, places: torch.round(x, decimals=int(places)),
    "u.silu": torch.nn.functional.silu,
    "u.gelu_none": torch.nn.functional.gelu,
    "u.gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    **{f"u.{name}": getattr(torch, name) for name in (*TRANSCENDENTAL, "sqrt")},
    **UNINTERPRETED,
    **{f"{PREFIX}{name}": lambda definition, *_: definition for name in KERNELS},
}
