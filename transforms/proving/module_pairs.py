"""Two graphs as a claim: one application of a pass, or a whole module before and after it.

A graph is taken as it is: its ranks, dtypes and constants are fixed, and its symbols may be any
numbers that their bounds allow. So a proof is about this graph, for all sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import (
    GetAttrOp,
    GraphOp,
    OutputOp,
    SymIntType,
    TensorType,
    entry_graph,
    print_ir,
    run,
)
from xductor.ir.functions.torch_calls import aten_call
from xductor.transforms.passes.numerics import EXACT, Numerics
from xductor.transforms.proving.eager_runs import Named, NotTaken, Trial, difference
from xductor.transforms.proving.instances import Instance, unwrapped
from xductor.transforms.proving.mutations import Mutation
from xductor.transforms.proving.path_world import Limits, PathWorld
from xductor.transforms.proving.paths import Path, Pruned
from xductor.transforms.proving.prover import prove_subject
from xductor.transforms.proving.results import Proof
from xductor.transforms.proving.symbolic import (
    Reads,
    SizeKnowledge,
    SymbolicDim,
    SymbolicTensor,
    term_of,
)
from xductor.transforms.semantics.registry import meaning_of
from xductor.transforms.semantics.terms import element, le, var
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue
from xductor.transforms.validation.validate import ValidationResult


class ModulePair:
    """Two modules whose entry graphs take the same arguments and give the same results."""

    tensors = 1
    least_decided = 1  # a graph leaves only sizes open, for which one instance stands

    def __init__(
        self,
        name: str,
        before: ModuleOp,
        after: ModuleOp,
        numerics: Numerics = EXACT,
        mutation: Mutation | None = None,
    ) -> None:
        self.name = name
        self.before, self.after = before, after
        self.numerics: Numerics = numerics
        self.mutation = mutation

    @property
    def identity(self) -> str:
        return self.name

    def mutated(self, mutation: Mutation) -> ModulePair:
        return ModulePair(self.name, self.before, self.after, self.numerics, mutation)

    def code(self) -> tuple[Any, ...]:
        return (print_ir(self.before), print_ir(self.after), self.numerics)

    def instance(self, path: Path, limits: Limits, reads: Reads, used: set[str]) -> Instance:
        graph = entry_graph(self.before)
        world = PathWorld(path)
        reads.dtype = True  # the dtypes of a graph are fixed
        for name, info in graph.symbols.data.items():
            world.variables[name] = var(name)
            if isinstance(info.lower, int):
                world.assume(le(info.lower, var(name)))
            if isinstance(info.upper, int):
                world.assume(le(var(name), info.upper))
        run_symbolic = _SymbolicRun(world, reads, used)
        values = [run_symbolic.argument(one, name) for one, name in _arguments(graph)]
        try:
            source = run_symbolic.results(graph, values)
        except Illegal as error:
            raise Pruned(str(error)) from error
        world.in_target = True
        problem, target = "", list[Any]()
        try:
            target = run_symbolic.results(entry_graph(self.after), values)
        except Illegal as error:
            problem = f"the second graph is refused: {error}"
        if self.mutation is not None:
            target = self.mutation.outputs(target, run_symbolic.call)
        types = [one.type for one, _ in _arguments(graph)]
        tensors = [one for one in types if isinstance(one, TensorType)]
        return Instance(
            path,
            world.assumptions,
            source,
            target,
            world.obligations,
            {},
            values,
            tuple([one.dtype for one in tensors]),
            tuple([one.rank for one in tensors]),
            world.bounds,
            problem,
            world.variables,
        )

    def run(self, fillings: Sequence[Any]) -> Trial:
        inputs = {one.name: one.data for one in fillings if isinstance(one, Named)}
        given = [one.data if isinstance(one, Named) else one for one in fillings]
        try:
            source = _flat(run(self.before, *_copies(given)))
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            raise NotTaken(str(error)) from error
        target = _flat(run(self.after, *_copies(given)))
        if self.mutation is not None and self.mutation.kind == "result reversed" and source[0].ndim:
            target[0] = target[0].flip(target[0].ndim - 1)
        trial = Trial(inputs, source, target)
        trial.problem = difference(trial, self.numerics)
        if trial.problem:
            trial.script = self._script(trial)
        return trial

    def _script(self, trial: Trial) -> str:
        lines = [
            f'"""A counter-example to {self.name}: {trial.problem}."""',
            "import torch",
            "import xductor",
            'inf, nan = float("inf"), float("nan")',
            f"before = xductor.parse_ir({print_ir(self.before)!r})",
            f"after = xductor.parse_ir({print_ir(self.after)!r})",
        ]
        names: list[str] = []
        for name, data in trial.inputs.items():
            lines.append(f"{name} = torch.tensor({data.tolist()!r}, dtype={data.dtype})")
            names.append(name)
        given = ", ".join(names)
        lines.append(f"a, b = xductor.run(before, {given}), xductor.run(after, {given})")
        lines.append("torch.testing.assert_close(b, a, rtol=0, atol=0, equal_nan=True)")
        return "\n".join(lines) + "\n"

    def validated(self) -> ValidationResult:
        return ValidationResult(self.name, self.numerics)


def _arguments(graph: GraphOp) -> list[tuple[SSAValue, str]]:
    return list(zip(graph.arguments, graph.argument_names, strict=True))


def _copies(items: Sequence[Any]) -> list[Any]:
    return [one.clone() if isinstance(one, torch.Tensor) else one for one in items]


def _flat(item: Any) -> list[Any]:
    return [x for one in item for x in _flat(one)] if isinstance(item, tuple | list) else [item]


class _SymbolicRun:
    """Runs graphs on symbolic values, op by op."""

    def __init__(self, world: PathWorld, reads: Reads, used: set[str]) -> None:
        self.world = world
        self.reads = reads
        self.used = used
        self.facts = SizeKnowledge(lambda _: False)  # sizes that are not numbers are symbols
        self._made = 0

    def argument(self, value: SSAValue, name: str) -> Any:
        type_: Any = value.type
        if isinstance(type_, SymIntType):
            return SymbolicDim(type_.expr, self.facts, self.reads)
        if not isinstance(type_, TensorType):
            raise NoMeaning(f"the argument %{name}, which is no tensor and no integer")
        dtype = type_.dtype
        return self._tensor(
            TensorValue(
                [term_of(size) for size in type_.shape],
                dtype,
                lambda index: element(name, index, dtype),
                device=type_.device,
            )
        )

    def _tensor(self, value: TensorValue) -> SymbolicTensor:
        self._made += 1
        return SymbolicTensor(value, self.facts, self.reads, self.world.size, f"v{self._made}")

    def results(self, graph: GraphOp, values: Sequence[Any]) -> list[Any]:
        """What a graph returns for these values of its arguments."""
        known: dict[SSAValue, Any] = dict(zip(graph.arguments, values, strict=True))
        for op in graph.block.ops:
            if isinstance(op, OutputOp):
                return [known[one] for one in op.operands]
            if op.name == "method.size" and len(op.results) == 1:
                known[op.results[0]] = self._size(op, known)
                continue
            if isinstance(op, GetAttrOp):
                # Whatever the module holds there; both graphs read the same.
                known[op.results[0]] = self.argument(op.results[0], f"the attribute {op.path}")
                continue
            call = aten_call(op)
            if call is None:
                raise NoMeaning(f"{op.name} has no meaning yet")
            items = [_read(one, known) for one in call.items]
            found = self.call(call.cls, tuple(items))
            made = found if isinstance(found, list) else [found]
            if len(made) != len(op.results):  # sizes for which the graph does not stand
                raise Illegal(f"{op.name} gives {len(made)} tensors and not {len(op.results)}")
            known.update(zip(op.results, made, strict=True))
        raise NoMeaning("a graph without an output")

    def _size(self, op: Any, known: dict[SSAValue, Any]) -> SymbolicDim:
        """`x.size(dim)`."""
        x, dim = (_read(one, known) for one in op.argument_tree(op.args.data[0]))
        return SymbolicDim(x.sizes[dim], self.facts, self.reads)

    def call(self, cls: Any, items: tuple[Any, ...]) -> Any:
        if cls.name == "aten.sym_size.int":
            x, dim = items
            return SymbolicDim(x.sizes[dim], self.facts, self.reads)
        function = meaning_of(cls.name)
        if function is None:
            raise NoMeaning(f"{cls.name} has no meaning yet")
        self.used.add(cls.name)
        found = function(self.world, *[unwrapped(item) for item in items])
        if isinstance(found, list | tuple):
            return [self._wrapped(one) for one in found]
        return self._wrapped(found)

    def _wrapped(self, found: Any) -> Any:
        if isinstance(found, TensorValue):
            return self._tensor(found)
        raise NoMeaning(f"a result that is {found!r}, and no tensor")


def _read(item: Any, known: dict[SSAValue, Any]) -> Any:
    if isinstance(item, SSAValue):
        return known[item]
    if isinstance(item, tuple | list):
        return [_read(one, known) for one in item]
    return item


def prove_modules(
    before: ModuleOp,
    after: ModuleOp,
    *,
    numerics: Numerics = EXACT,
    name: str = "a pass",
    seconds: float = 120.0,
) -> Proof:
    """Decide whether two modules compute the same, for all sizes of their symbols.

    Their entry graphs take the same arguments, as those of a module before and after a pass do, or
    the two fragments of one application (`validation.fragments`).
    """
    return prove_subject(ModulePair(name, before, after, numerics), seconds=seconds)


__all__ = ["ModulePair", "prove_modules"]
