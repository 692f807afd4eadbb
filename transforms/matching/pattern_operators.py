"""Python's operators in `pattern` and `replacement`: `x * y` is the op that graphs have for it.

In a pattern that is ATen's op after autograd, and before it what Dynamo records; in a replacement
it is ATen's. If an operator stands for no single op, the error says what to write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from xductor.ir import aten, ops

_before_autograd: ContextVar[bool] = ContextVar("xductor_pattern_before_autograd", default=False)


@contextmanager
def operators_of(stages: tuple[str, ...]) -> Iterator[None]:
    """Let operators inside the block stand for the ops in graphs of these stages."""
    token = _before_autograd.set("pre_grad" in stages)
    try:
        yield
    finally:
        _before_autograd.reset(token)


_ATEN: dict[str, Callable[..., Any]] = {
    "add": aten.add,
    "sub": aten.sub,
    "mul": aten.mul,
    "truediv": aten.div,
    "pow": aten.pow,
    "neg": aten.neg,
}
_INSTEAD = {
    "matmul": "aten.mm(x, y) or aten.bmm(x, y)",
    "sub": "aten.sub(n, x) or aten.rsub(x, n), as the graph has it",
    "truediv": "aten.mul(aten.reciprocal(x), n) or aten.div(n, x), as the graph has it",
    "pow": "aten.pow(n, x)",
}


class Operators:
    """Python's operators on a part of a pattern or on a tensor; `kind` is what it stands for.

    Each raises TypeError if no single op stands for it, or if it is no tensor.
    """

    __slots__ = ()

    kind: str

    @staticmethod
    def _is_as_recorded() -> bool:
        """Whether operators stand for what Dynamo records of them."""
        return _before_autograd.get()

    def _call(self, name: str, *operands: Any) -> Any:
        if self.kind not in ("tensor", "any"):
            raise TypeError(
                f"an operator on {self!r}, which is no tensor; numbers are computed in `where` and "
                "`replacement`"
            )
        if self._is_as_recorded():
            return getattr(ops.pyfn._operator, name)(*operands)
        if name not in _ATEN or (operands[0] is not self and name in _INSTEAD):
            raise TypeError(f"no one op stands for the operator '{name}': write {_INSTEAD[name]}")
        return _ATEN[name](*operands)

    def __add__(self, other: Any) -> Any:
        return self._call("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._turned("add", other)

    def __sub__(self, other: Any) -> Any:
        return self._call("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._turned("sub", other)

    def __mul__(self, other: Any) -> Any:
        return self._call("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._turned("mul", other)

    def __truediv__(self, other: Any) -> Any:
        return self._call("truediv", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._turned("truediv", other)

    def __pow__(self, other: Any) -> Any:
        return self._call("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._turned("pow", other)

    def __matmul__(self, other: Any) -> Any:
        return self._call("matmul", self, other)

    def __neg__(self) -> Any:
        return self._call("neg", self)

    def _turned(self, name: str, number: Any) -> Any:
        """An operator with a number on the left. ATen's commutative ops have it on the right."""
        if name in ("add", "mul") and not self._is_as_recorded():
            return self._call(name, self, number)
        return self._call(name, number, self)


__all__ = ["Operators", "operators_of"]
