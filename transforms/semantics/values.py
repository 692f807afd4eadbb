"""What meanings work with: tensors as functions, and the world they are in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch

from xductor.transforms.semantics.terms import Int, Term, as_int, integer, mul

Index = Sequence[Int]


class NoMeaning(Exception):
    """An op, or a use of it, that has no meaning here; the message says which."""


class Illegal(Exception):
    """A call that PyTorch would refuse."""


class TensorValue:
    """A tensor as a function from an index to the element there.

    - `shape`: sizes, as integer terms.
    - `dtype`: that of the elements.
    - `device`: where it is, by default the CPU.
    """

    __slots__ = ("_dtype", "_element", "device", "on_dtype", "shape")
    kind = "tensor"

    def __init__(
        self,
        shape: Sequence[Int],
        dtype: torch.dtype,
        element: Callable[[Sequence[Term]], Term],
        *,
        device: torch.device | None = None,
        on_dtype: Callable[[], None] | None = None,
    ) -> None:
        self.shape: tuple[Term, ...] = tuple(map(integer, shape))
        self._dtype = dtype
        self._element = element
        self.device = device if device is not None else torch.device("cpu")
        self.on_dtype = on_dtype

    @property
    def dtype(self) -> torch.dtype:
        """The dtype. Reading it is reported to `on_dtype`."""
        if self.on_dtype is not None:
            self.on_dtype()
        return self._dtype

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> Term:
        return mul(*self.shape) if self.shape else integer(1)

    def element(self, index: Index) -> Term:
        """The element at an index, which has one entry for each dim and is in range."""
        if len(index) != len(self.shape):
            raise ValueError(f"an index of {len(index)} entries into rank {len(self.shape)}")
        return self._element(tuple(map(integer, index)))

    def moved(
        self, shape: Sequence[Int], source_of: Callable[[Sequence[Term]], Index]
    ) -> TensorValue:
        """Data movement: a tensor of another shape, whose elements are elements of this one."""
        return TensorValue(
            shape,
            self._dtype,
            lambda index: self.element(source_of(index)),
            device=self.device,
            on_dtype=self.on_dtype,
        )


def dtypes_of_both(a: TensorValue, b: TensorValue) -> tuple[torch.dtype, torch.dtype]:
    """The dtypes of two tensors, for decisions that depend on whether they are the same.

    Reading them is reported, unless they are the same and both tensors, or neither, report their
    dtype: then they are the same whatever dtype they stand for.
    """
    if a._dtype is b._dtype and (a.on_dtype is None) == (b.on_dtype is None):
        return a._dtype, b._dtype
    return a.dtype, b.dtype


class World(Protocol):
    """What meanings ask about sizes, and where they state the requirements of a call.

    A prover has a world in which sizes are variables, a test one in which they are numbers.
    """

    def require(self, condition: Term, why: str) -> None:
        """Require a condition for the call to be legal.

        Raises Illegal if it never holds.
        """
        ...

    def known(self, condition: Term) -> bool:
        """Whether a condition over sizes is certain to hold; False says nothing."""
        ...

    def size(self, item: Term) -> Term:
        """A size that is no polynomial, as a named variable; the same one for the same term."""
        ...

    def one_of(self, cases: Sequence[tuple[Term, Any]], what: str) -> Any:
        """The item of the case that holds; if several may hold, each is looked at in turn.

        Cases need not cover everything: what they leave out is a bound of the proof.
        """
        ...


def known_equal(world: World, a: Int, b: Int) -> bool:
    """Whether two sizes are certain to be equal."""
    from xductor.transforms.semantics.terms import eq

    return integer(a) is integer(b) or world.known(eq(a, b))


def dim_of(dim: Any, rank: int) -> int:
    """A dim counted from the front; a tensor of rank 0 counts as one of rank 1.

    Raises Illegal if it is out of range, NoMeaning if it is not a plain number.
    """
    place = as_int(dim) if isinstance(dim, Term | int) and not isinstance(dim, bool) else None
    if place is None:
        raise NoMeaning(f"a dim that is {dim!r}, and no plain number")
    count = max(rank, 1)
    if not -count <= place < count:
        raise Illegal(f"dim {place} of rank {rank}")
    return place % count


def dims_of(dims: Any, rank: int) -> list[int]:
    """Distinct dims counted from the front."""
    found = [dim_of(dim, rank) for dim in (dims if isinstance(dims, list | tuple) else [dims])]
    if len(set(found)) != len(found):
        raise Illegal(f"a dim stands twice in {dims}")
    return found
