"""Lets a value stand for another that has the same content, where no one can notice."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any, NamedTuple

from xdsl.ir import SSAValue

from xductor.ir import Facts, GraphOp, TensorType, TorchOp, aliases_through
from xductor.ir.dialect.types import Dim
from xductor.ir.inference.infer import storage_root
from xductor.transforms.analysis.graphs import facts_of
from xductor.transforms.analysis.memory import reads_storage
from xductor.transforms.editing.aliasing import Storages, storage_problem, tensor_of
from xductor.transforms.editing.editor import Editor
from xductor.transforms.passes.refusals import left_alone

_FLAGS = ("conj", "neg", "requires_grad")


def known_equal(left: tuple[Dim, ...], right: tuple[Dim, ...], facts: Facts) -> bool:
    """Whether two lists of sizes or strides are equal for all values of the symbols."""
    if left == right:
        return True
    return len(left) == len(right) and all(
        facts.known_equal(a, b) is True for a, b in zip(left, right, strict=True)
    )


def surely_differ(left: TensorType, right: TensorType) -> bool:
    """Whether two types surely have different dtypes or sizes, found by a quick look.

    Sizes with symbols may be equal though they look different.
    """
    a, b = left.data, right.data
    return a.dtype is not b.dtype or (a.shape != b.shape and not left.symbols and not right.symbols)


class Difference(NamedTuple):
    """A property in which two types differ, and what each has there."""

    what: str
    expected: object
    found: object

    def __str__(self) -> str:
        if self.what in _FLAGS:
            return f"expected {self.expected}, found {self.found} ({self.what} differs)"
        return f"expected {self.what} {self.expected}, found {self.found}{self._note()}"

    def _note(self) -> str:
        sizes: Any = (self.expected, self.found)
        unknown = self.what == "sizes" and len(sizes[0]) == len(sizes[1])
        return ", not known to be equal" if unknown else ""


def difference(
    left: TensorType, right: TensorType, facts: Facts, permits: Collection[str] = ()
) -> Difference | None:
    """In what two types differ, apart from strides, offset and whether they are parameters.

    - `permits`: what may differ: `"device"`, or nothing.
    """
    a, b = left.data, right.data
    if a.dtype is not b.dtype:
        return Difference("dtype", a.dtype, b.dtype)
    if a.device != b.device and "device" not in permits:
        return Difference("device", a.device, b.device)
    if a.layout != b.layout:
        return Difference("layout", a.layout, b.layout)
    if a.subclass != b.subclass:
        return Difference("tensor subclass", a.subclass, b.subclass)
    if not known_equal(a.shape, b.shape, facts):
        return Difference("sizes", list(a.shape), list(b.shape))
    if a.flags != b.flags:
        for flag in _FLAGS:
            if (flag in a.flags) != (flag in b.flags):
                return Difference(flag, left, right)
    return None


def same_meta(left: Any, right: Any, facts: Facts) -> bool:
    """Whether two types agree in all but the offset and whether they are parameters.

    Compared are dtype, device, layout, sizes, strides, conjugate and negative bits, and
    `requires_grad`.
    """
    if left is right and type(left) is TensorType:
        return True
    if type(left) is not TensorType or type(right) is not TensorType:
        return False
    if difference(left, right, facts) is not None:
        return False
    a, b = left.data, right.data
    return a.layout != "strided" or known_equal(a.stride, b.stride, facts)


class Replacement(Storages):
    """Replaces results by values of the same content within one graph.

    The contract: sizes, strides and dtype stay as they were, the offset wherever it can be seen,
    and the storages keep the rules of `aliasing`.
    """

    def __init__(self, graph: GraphOp) -> None:
        self.graph = graph
        self.editor = Editor(graph)
        self.analyses = self.editor.analyses

    @cached_property
    def facts(self) -> Facts:
        return facts_of(self.graph)

    def is_written(self, root: SSAValue) -> bool:
        """Whether an op may write to a storage that has this root."""
        return self.has_writes and bool(self.analyses.memory.storage(root).writes)

    def meets_write(self, old: SSAValue, new: SSAValue, gone: Collection[TorchOp]) -> bool:
        """Whether one is written after `old` was made, and the other read then or later."""
        made: Any = old.owner
        return self.has_writes and self.analyses.memory.interfere(old, new, made)

    def autograd_problem(self, old: SSAValue, new: SSAValue, root: SSAValue) -> str:
        """None: such passes run behind autograd, or leave alone what stands among modes."""
        return ""

    def may_replace(self, op: TorchOp, *sources: SSAValue) -> bool:
        """Whether `sources`, which have the same content, may stand for the results.

        One of several results that nobody reads is not looked at.
        """
        pairs = zip(op.results, sources, strict=True)
        if len(sources) == 1:
            return self._may_stand(op, *next(pairs))
        return all(
            self._may_stand(op, result, source)
            for result, source in pairs
            if result.first_use is not None
        )

    def _may_stand(self, op: TorchOp, result: SSAValue, source: SSAValue) -> bool:
        if not same_meta(result._type, source._type, self.facts):
            left_alone(op, "{} would take the place of {}", source.type, result.type)
            return False
        before, after = storage_root(result), storage_root(source)
        problem = storage_problem(result, source, before, after, (op,), self)
        if problem:
            left_alone(op, problem)
            return False
        if self._same_offset(result, source) or not self._shows_offset(result, before):
            return True
        left_alone(op, "what would take its place begins elsewhere in its storage, which is seen")
        return False

    def _same_offset(self, result: SSAValue, source: SSAValue) -> bool:
        a: Any = result._type
        b: Any = source._type
        return self.facts.known_equal(a.data.offset, b.data.offset) is True

    def _shows_offset(self, result: SSAValue, root: SSAValue) -> bool:
        """Whether where in its storage a value begins is seen, or told by types of its views."""
        if result is not root or root in self.returned_roots:
            return True
        for use in result.uses:
            user: Any = use.operation
            if reads_storage(user):
                return True
            if aliases_through(use):
                return True
        return False

    def replace(self, op: TorchOp, *sources: SSAValue) -> None:
        """Replace the results of `op` by `sources` and erase `op`, as one application."""
        known = vars(self)
        for result, source in zip(op.results, sources, strict=True):
            if result in known.get("returned_tensors", ()):
                self.returned_tensors.add(tensor_of(source))
            if "returned_roots" in known and storage_root(result) in self.returned_roots:
                self.returned_roots.add(storage_root(source))
        self.editor.replace(op, *sources)
