"""Verification level `types`: each result has the type that the op's meta kernel infers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Self

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from xductor.ir.dialect.graph import GraphOp
from xductor.ir.dialect.operations import SchemaOp, TorchOp
from xductor.ir.dialect.results import LEAF, flat_structure
from xductor.ir.dialect.types import NONE, TensorType
from xductor.ir.inference.ambient_modes import Modes, UnknownMode, after_autograd
from xductor.ir.inference.body_modes import modes_of_graph, replay
from xductor.ir.inference.infer import (
    InferenceEnv,
    Inferred,
    NotApplicable,
    NotInferred,
    inferred,
    refusal_before_running,
    storage_root,
)
from xductor.ir.inference.subgraph_types import body_types
from xductor.ir.storage.written import written_operands
from xductor.ir.symbolic.expressions import symbol
from xductor.ir.symbolic.facts import Facts
from xductor.ir.text.diagnostics import fail
from xductor.ir.verification.type_comparison import TypeComparison


@dataclass
class Summary:
    """The extent of a type check.

    - `checked`: ops whose result types were compared, `remembered` of them without running.
    - `skipped`: ops that could not be checked, counted by reason.
    - `assumed`: ops whose kernels assumed more about symbols than the graph's facts, with the
      assumptions.
    """

    checked: int = 0
    remembered: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    assumed: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def __iadd__(self, other: Summary) -> Self:
        self.checked += other.checked
        self.remembered += other.remembered
        self.skipped.update(other.skipped)
        self.assumed += other.assumed
        return self


def check_types(
    graph: GraphOp,
    module: ModuleOp | None = None,
    *,
    errors: list[VerifyException] | None = None,
) -> Summary:
    """Check the recorded type of every result of a graph against the inferred one.

    - `module`: has the bodies of higher-order ops; without it their results are skipped.
    - `errors`: if given, errors are appended to it, and the check goes on.

    dtype, device, layout and rank must be equal; sizes, strides and offset must be equal for all
    values of the symbols. Strides of dims of size one, and of empty tensors, do not count, and a
    result with its own storage may begin at 0 whatever is inferred. Before autograd requires_grad
    counts too. Only the facts of the live ShapeEnv are used.

    Raises VerifyException for the first wrong op, with the recorded and the inferred type.
    """
    if graph.is_declaration:
        return Summary()
    with InferenceEnv.of(graph) as env:
        checker = _Checker(graph, module, env, errors)
        if graph.stage.data != "pre_grad":
            with after_autograd(graph.ambient.data):
                checker.run(None)
        else:
            with modes_of_graph(graph, module) as modes:
                checker.run(modes)
    return checker.summary


def _without_asserts(env: InferenceEnv) -> frozenset[str]:
    """Unbacked symbols of parsed text, which does not hold the user's assertions about them."""
    if env.known is not None:
        return frozenset()
    return frozenset(name for name, info in env.table.items() if not info.backed)


class _Checker:
    """One walk over a graph."""

    def __init__(
        self,
        graph: GraphOp,
        module: ModuleOp | None,
        env: InferenceEnv,
        errors: list[VerifyException] | None,
    ) -> None:
        self.graph = graph
        self.errors = errors
        self.module = module
        self.env = env
        self.summary = Summary()
        self._comparison: TypeComparison | None = None
        self._written: set[SSAValue] | None = None

    @property
    def comparison(self) -> TypeComparison:
        if self._comparison is None:
            env = self.env
            facts = (
                Facts.from_shape_env(env.known)
                if env.known is not None
                else Facts.from_table(env.table)
            )
            self._comparison = TypeComparison(
                facts, with_grad=env.with_grad, unrecorded=_without_asserts(env)
            )
        return self._comparison

    def run(self, modes: Modes | None) -> None:
        """Check every op; `modes` follows the walk if modes matter."""
        blocked = ""
        for op in self.graph.block.ops:
            assert isinstance(op, TorchOp)
            reason = blocked or refusal_before_running(op)
            if modes is not None and not blocked:
                if op.raw_arguments and op.effects.mode:
                    blocked = follow(modes, op)
                    reason = blocked or "change of modes"
                elif modes.functorch:
                    reason = "within a functorch transform"
                else:
                    self.env.modes = modes.key()
            try:
                self.op(op, reason)
            except VerifyException as error:
                if self.errors is None:
                    raise
                self.errors.append(error)

    def op(self, op: TorchOp, reason: str | None) -> None:
        if reason is not None and reason.startswith("subgraphs of "):
            if not self.subgraph_results(op):
                self.summary.skipped[reason] += 1
            return
        if reason is not None:
            if reason != "output":
                self.summary.skipped[reason] += 1
            return
        try:
            found, remembered = inferred(op, self.env)
        except NotInferred as refusal:
            self.summary.skipped[refusal.reason] += 1
            return
        except NotApplicable as error:
            if self._stale_operand(op):
                self.summary.skipped["operand written later"] += 1
                return
            self._reject_call(op, error)
        self.compare(op, found)
        self._check_equations(op, found)
        self.summary.checked += 1
        self.summary.remembered += remembered
        if found.assumed:
            self.summary.assumed.append((op.node.node or op.name, found.assumed))

    def _reject_call(self, op: TorchOp, error: NotApplicable) -> NoReturn:
        types = ", ".join(str(operand.type) for operand in op.operands)
        fail(
            op,
            "the op cannot be applied to operands of these types",
            expected=f"operands that PyTorch takes; it says: {error}",
            found=types or "no operands",
        )

    def compare(self, op: TorchOp, found: Inferred) -> None:
        """Raise if recorded and inferred types of an op's results differ."""
        recorded = [result.type for result in op.results]
        if list(found.types) == recorded and not found.fresh:
            return
        if len(found.types) != len(recorded) or not _same_nesting(op, found):
            if not recorded and found.types == (NONE,):
                return
            fail(
                op,
                "the number or nesting of results is not what the op gives",
                expected=_type_list(found.types),
                found=_type_list(recorded),
            )
        comparison = self.comparison
        bound = comparison.unified(recorded, found.types, found.fresh)
        for index, (ours, theirs) in enumerate(zip(recorded, found.types, strict=True)):
            if ours is NONE and not op.results[index].uses.get_length():
                continue  # Dynamo records nothing for `x.requires_grad_()` as a statement
            facet = comparison.difference(ours, theirs, bound)
            if facet is not None and not self._accounted_for(op, index, facet, found):
                where = "" if len(recorded) == 1 else f" of result {index}"
                fail(
                    op,
                    f"the recorded type{where} is not what the op gives: {facet} differs",
                    expected=f"{theirs} (inferred)",
                    found=f"{ours} (recorded)",
                    hint="the metadata is stale: update it where the op or its operands changed",
                )

    def _check_equations(self, op: TorchOp, found: Inferred) -> None:
        """Raise if a kernel needs two sizes to be equal that are not known to be."""
        for name, target in found.equated:
            if self.comparison.facts.known_equal(symbol(name), target) is not True:
                fail(
                    op,
                    f"the op can only be applied where {name} is {target}",
                    expected=f"a fact of the graph that {name} == {target}",
                    found="no such fact",
                    hint="sizes that only happen to agree for the example inputs were combined",
                )

    def _accounted_for(self, op: TorchOp, index: int, facet: str, found: Inferred) -> bool:
        """Whether a difference is no error.

        That is so if a write made it, if inference had to ignore gradients, or if it is the offset
        of a result in its own storage. Before functionalization the recorded type of a value is the
        one after all writes to it: a write can make it require grad, and `x.t_()` swaps its dims.
        """
        if facet == "storage offset" and _offset_is_free(op, index):
            return True
        if not self.env.with_grad:
            return False
        if facet == "requires_grad":
            return (
                found.without_grad
                or self._in_written_storage(op.results[index])
                or self._stale_operand(op)
            )
        if facet in ("shape", "strides", "rank", "storage offset"):
            return self._reshaped(op.results[index]) or any(map(self._reshaped, op.operands))
        return False

    def _stale_operand(self, op: TorchOp) -> bool:
        return self.env.with_grad and any(
            self._in_written_storage(operand) for operand in op.operands
        )

    def _in_written_storage(self, value: SSAValue) -> bool:
        if self._written is None:
            self._written = set()
            for op in self.graph.block.ops:
                assert isinstance(op, TorchOp)
                self._written.update(map(storage_root, written_operands(op)))
        return storage_root(value) in self._written

    def _reshaped(self, value: SSAValue) -> bool:
        return any(
            isinstance(use.operation, TorchOp) and _base_name(use.operation) in _RESHAPING
            for use in value.uses
        )

    def subgraph_results(self, op: TorchOp) -> bool:
        """Compare the results of a higher-order op with those of its body; False if skipped."""
        if self.module is None:
            return False
        found = body_types(op, self.module)
        if found is None:
            return False
        recorded = [result.type for result in op.results]
        if len(recorded) != len(found.types):
            return False
        comparison = self.comparison
        for index, (ours, theirs) in enumerate(zip(recorded, found.types, strict=True)):
            facet = comparison.difference(ours, theirs, {})
            if facet is not None and facet not in found.ignored:
                fail(
                    op,
                    f"the recorded type of result {index} is not what @{found.body} returns: "
                    f"{facet} differs",
                    expected=f"{theirs} (returned)",
                    found=f"{ours} (recorded)",
                )
        self.summary.checked += 1
        return True


_RESHAPING = frozenset(
    {"resize_", "resize_as_", "set_", "t_", "transpose_", "swapaxes_", "swapdims_", "squeeze_",
     "unsqueeze_", "as_strided_", "rename_", "detach_", "setattr"}
)  # fmt: skip


# Ops whose result has its own storage, but the offset of the operand. Tracing and decompositions
# often record 0 instead, and a pass may replace the operand by one with another offset.
_INHERITING_OFFSET = frozenset(
    ("copy", "select_scatter", "slice_scatter", "diagonal_scatter", "as_strided_scatter",
     "_unsafe_view", "unsafe_split", "unsafe_split_with_sizes")
)  # fmt: skip


def _offset_is_free(op: TorchOp, index: int) -> bool:
    """Whether the offset of a result does not matter, because the result has its own storage.

    The storages of results of Python-level calls are not known.
    """
    result = op.results[index]
    if not isinstance(op, SchemaOp) or storage_root(result) is not result:
        return False
    begins_at = result.type.data.offset if isinstance(result.type, TensorType) else None
    return begins_at == 0 or _base_name(op) in _INHERITING_OFFSET


def _base_name(op: TorchOp) -> str:
    parts = op.name.split(".")
    return parts[-2] if not op.raw_arguments else parts[-1]


def _same_nesting(op: TorchOp, found: Inferred) -> bool:
    structure = op.structure
    if structure is not None:
        return structure.data == found.structure
    flat = flat_structure(len(op.results)).data
    return found.structure in ((LEAF, flat) if len(op.results) == 1 else (flat,))


def _type_list(types: Sequence[Any]) -> str:
    return f"({', '.join(map(str, types))})"


def follow(modes: Modes, op: TorchOp) -> str:
    """Follow a change of modes; returns why nothing after it can be checked, or ""."""
    try:
        replay(modes, op)
    except UnknownMode as error:
        return f"after {error}"
    return ""


__all__ = ["Summary", "check_types"]
