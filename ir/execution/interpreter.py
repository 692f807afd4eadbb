"""Runs a module on real values, op by op, as eager PyTorch would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir.dialect.graph import (
    GetAttrOp,
    GraphOp,
    OpaqueCallOp,
    OutputOp,
    entry_graph,
    graph_named,
)
from xductor.ir.dialect.operations import SchemaOp, TorchOp
from xductor.ir.dialect.python_calls import CallArguments, NoPythonValue
from xductor.ir.dialect.results import LEAF
from xductor.ir.dialect.types import SymIntType, TensorType
from xductor.ir.effects.aliases import schema_aliases
from xductor.ir.effects.operator_effects import overload_effects
from xductor.ir.execution.input_check import input_problem
from xductor.ir.inference.ambient_modes import after_autograd, graph_modes
from xductor.ir.inference.value_types import leaves_of
from xductor.ir.symbolic.expressions import SymExpr
from xductor.ir.text.locations import place_in_text
from xductor.ir.text.resources import constant


class InterpreterError(ValueError):
    """A module cannot be run; the message names the graph, the op and what is missing."""


def run(
    module: ModuleOp,
    *inputs: Any,
    attributes: Mapping[str, Any] | None = None,
    graph: GraphOp | None = None,
    any_dtype: bool = False,
) -> Any:
    """Run a graph of a module on real inputs, one for each of its arguments.

    - `graph`: by default the module's entry graph.
    - `attributes`: values of parameters, buffers and submodules by dotted path, for every graph
      of the module. A graph that was just lowered has them from its GraphModule.
    - `any_dtype`: inputs may have other dtypes than their arguments, for example to run in float64.

    A pre-grad graph runs under its ambient modes; other graphs run without gradients and autocast.
    Inputs that the graph mutates are mutated. Returns what the graph returns, nested as in FX.

    Raises InterpreterError if an input, attribute or object is missing, or if the dtype or a size
    of an input differs from its argument. Errors of ops are raised with a note that names the op.
    """
    graph = entry_graph(module) if graph is None else graph
    given = len(inputs) == len(graph.arguments)
    if given and (problem := input_problem(graph, inputs, any_dtype=any_dtype)):
        raise InterpreterError(f"fx.graph @{graph.sym_name.data}: {problem}")
    with ExitStack() as stack:
        if graph.stage.data == "pre_grad":
            stack.enter_context(graph_modes(graph.ambient.data))
        else:
            stack.enter_context(after_autograd(graph.ambient.data))
        return _Interpreter(module, attributes).call(graph, inputs)


class Subgraph(torch.nn.Module):
    """A body as a module, for a higher-order op to call."""

    def __init__(self, interpreter: _Interpreter, graph: GraphOp) -> None:
        super().__init__()
        self._call: Callable[[Sequence[Any]], Any] = lambda inputs: interpreter.call(graph, inputs)

    def forward(self, *inputs: Any) -> Any:
        return self._call(inputs)


class _Interpreter:
    """One run of a module."""

    def __init__(self, module: ModuleOp, attributes: Mapping[str, Any] | None) -> None:
        self.module = module
        self.attributes = attributes or {}

    def call(self, graph: GraphOp, inputs: Sequence[Any]) -> Any:
        """The result of a graph for these inputs."""
        if len(inputs) != len(graph.arguments):
            raise InterpreterError(
                f"fx.graph @{graph.sym_name.data} takes {len(graph.arguments)} inputs "
                f"({', '.join(graph.argument_names)}), {len(inputs)} were given"
            )
        return _Frame(self, graph, inputs).run()

    def subgraph(self, name: str) -> Subgraph:
        graph = graph_named(self.module, name)
        if graph is None or graph.is_declaration:
            raise NoPythonValue(f"@{name} has no body in the module")
        return Subgraph(self, graph)

    def attribute(self, graph: GraphOp, path: str) -> Any:
        """The module's attribute at a dotted path."""
        if path in self.attributes:
            return self.attributes[path]
        if path in graph.new_constants:
            return graph.new_constants[path]
        found: Any = graph.live.gm if graph.live is not None else None
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is None and graph.constants is not None:
            found = next((constant(graph, op) for op in _readers(graph, path)), None)
        if found is None:
            raise InterpreterError(
                f"no value for attribute '{path}'; pass attributes={{'{path}': ...}}"
            )
        return found


def _readers(graph: GraphOp, path: str) -> Iterator[GetAttrOp]:
    for op in graph.block.ops:
        if isinstance(op, GetAttrOp) and op.path == path:
            yield op


class _Frame:
    """One call of one graph: the values of its ops, each dropped after its last use."""

    def __init__(self, interpreter: _Interpreter, graph: GraphOp, inputs: Sequence[Any]) -> None:
        self.interpreter = interpreter
        self.graph = graph
        self.values: dict[SSAValue, Any] = dict(zip(graph.arguments, inputs, strict=True))
        self.symbols = dict(_symbols(graph, inputs))
        self.arguments = CallArguments(self.number, interpreter.subgraph)

    def run(self) -> Any:
        last_use = self._last_uses()
        for op in self.graph.block.ops:
            assert isinstance(op, TorchOp)
            operands = [self.values[operand] for operand in op._operands]
            if _makes_new_tensors(type(op)):
                operands = [
                    _as_recorded(value, operand._type)
                    for value, operand in zip(operands, op._operands, strict=True)
                ]
            try:
                if isinstance(op, OutputOp):
                    return self.arguments.tree(op.tree, operands)
                value = self.call(op, operands)
            except Exception as error:
                error.add_note(self._where(op))
                raise
            for result, leaf in zip(op.results, _result_leaves(op, value), strict=True):
                self.values[result] = leaf
            for operand in last_use.get(op, ()):
                self.values.pop(operand, None)
        raise InterpreterError(f"fx.graph @{self.graph.sym_name.data} does not end in fx.output")

    def _where(self, op: TorchOp) -> str:
        text = f"while running {op.name} (node {op.node.node}) of @{self.graph.sym_name.data}"
        place, location = place_in_text(op), op.node.location()
        if place is not None:
            text += f"\n  at:        {place[0]}:{place[1]}:{place[2]}"
        if location is not None:
            text += f"\n  user code: {location[0]}:{location[1]}"
        return text

    def _last_uses(self) -> dict[TorchOp, list[SSAValue]]:
        users: dict[SSAValue, TorchOp] = {}
        for op in self.graph.block.ops:
            assert isinstance(op, TorchOp)
            users.update(dict.fromkeys(op._operands, op))
        dead: dict[TorchOp, list[SSAValue]] = {}
        for value, op in users.items():
            dead.setdefault(op, []).append(value)
        return dead

    def call(self, op: TorchOp, operands: list[Any]) -> Any:
        """The value of one op."""
        data = op.args.data
        if isinstance(op, GetAttrOp):
            return self.interpreter.attribute(self.graph, op.path)
        if isinstance(op, OpaqueCallOp):
            positional, keywords = self.arguments.of(type(op), data, operands)
            function, *rest = positional
            return function(*rest, **keywords)
        positional, keywords = self.arguments.of(type(op), data, operands)
        if op.fx_op == "call_module":
            target = self.interpreter.attribute(self.graph, op.target)
        elif op.fx_op == "call_method":
            receiver, *positional = positional
            target = getattr(receiver, op.target)
        else:
            target = op.target
            if isinstance(target, HigherOrderOperator):
                return _call_higher_order(target, positional, keywords)
        return target(*positional, **keywords)

    def number(self, expression: SymExpr) -> Any:
        """The value of a symbolic constant, with the values that the inputs give its symbols."""
        import sympy

        from xductor.ir.symbolic.expressions import to_sympy
        from xductor.ir.symbolic.symbols import make_symbols

        table = self.graph.symbols.data
        missing = expression.symbols - self.symbols.keys()
        if missing:
            raise NoPythonValue(f"symbols {sorted(missing)}, which no input's size is")
        symbols = make_symbols(table)
        known = {symbols[name]: value for name, value in self.symbols.items() if name in symbols}
        value: Any = to_sympy(expression, symbols).xreplace(known)
        if value in (sympy.true, sympy.false):
            return bool(value)
        return int(value) if value.is_integer else float(value)


@cache
def _makes_new_tensors(cls: type[TorchOp]) -> bool:
    """Whether an overload only reads its tensors, so that it may get copies of them."""
    return (
        issubclass(cls, SchemaOp)
        and not any(schema_aliases(cls.target))
        and not overload_effects(cls.target).writes
    )


def _as_recorded(value: Any, type_: Any) -> Any:
    """A tensor with the strides in its type, copied if it has others.

    A kernel may have been chosen for those strides, and misread others: the graph may come from
    between two passes, the first of which replaced a value by one with other strides.
    """
    if type(type_) is not TensorType or not isinstance(value, torch.Tensor):
        return value
    strides: Any = type_.data.stride
    if type_.data.layout != "strided" or value.stride() == strides or value.shape != type_.shape:
        return value
    if type_.symbols or not value.numel() or 0 in strides:
        return value
    steps = zip(value.shape, value.stride(), strides, strict=True)
    if all(size == 1 or found == step for size, found, step in steps):
        return value
    laid_out = torch.empty_strided(value.shape, strides, dtype=value.dtype, device=value.device)
    return laid_out.copy_(value)


def _symbols(graph: GraphOp, inputs: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """The values of the symbols that are a size, a stride or the value of an input."""
    for argument, value in zip(graph.arguments, inputs, strict=True):
        type_: Any = argument.type
        if isinstance(value, torch.Tensor):
            dims = zip((*type_.shape, *type_.stride), (*value.shape, *value.stride()), strict=True)
        elif isinstance(type_, SymIntType):
            dims = iter([(type_.expr, value)])
        else:
            continue
        for dim, known in dims:
            if type(dim) is SymExpr and dim.head == "symbol":
                yield dim.text, known


def _result_leaves(op: TorchOp, value: Any) -> list[Any]:
    """The value of a call, split into the op's results."""
    structure = op.structure
    if structure is None and not op.raw_arguments and op.table.is_tuple:  # type: ignore[attr-defined]
        leaves = list(leaves_of(value))
    elif structure is None or structure.data == LEAF:
        leaves = [value][: len(op.results)]
    else:
        leaves = list(_by_structure(structure.data, value))
    if len(leaves) != len(op.results):
        raise InterpreterError(
            f"{op.name} gave {len(leaves)} values, the op has {len(op.results)} results"
        )
    return leaves


def _by_structure(structure: Any, value: Any) -> Iterator[Any]:
    if structure == LEAF:
        yield value
        return
    for part, inner in zip(structure, value, strict=True):
        yield from _by_structure(part, inner)


# ------------------------------------------------------------------------------ higher-order ops


def _call_higher_order(
    target: HigherOrderOperator, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Run a higher-order op as eager would.

    Ops that only call their bodies are run here, since their own kernels trace or cache.
    """
    meaning = _MEANINGS.get(target.name())
    if meaning is not None:
        return meaning(*args, **kwargs)
    return target(*args, **kwargs)


def _cond(predicate: Any, true_branch: Any, false_branch: Any, operands: Any = ()) -> Any:
    return (true_branch if bool(predicate) else false_branch)(*operands)


def _while_loop(condition: Any, body: Any, carried: Any, additional: Any = ()) -> Any:
    values = tuple(carried)
    while bool(condition(*values, *additional)):
        values = tuple(body(*values, *additional))
    # Zero iterations return copies too: results never share storage with the operands.
    return tuple(
        value.clone()
        if isinstance(value, torch.Tensor) and any(value is v for v in carried)
        else value
        for value in values
    )


def _invoke_subgraph(body: Any, identifier: Any, *operands: Any) -> Any:
    return body(*operands)


def _wrapped(body: Any, *operands: Any, **options: Any) -> Any:
    return body(*operands)


def _hints_wrapper(body: Any, operands: Any = (), kwargs: Any = None, **options: Any) -> Any:
    return body(*operands, **(kwargs or {}))


def _with_autocast(
    device: str, dtype: Any, enabled: bool, cache: Any, body: Any, *operands: Any
) -> Any:
    with torch.autocast(device, dtype, enabled, cache):
        return body(*operands)


def _with_grad_enabled(enabled: bool, body: Any, *operands: Any) -> Any:
    with torch.set_grad_enabled(enabled):
        return body(*operands)


_MEANINGS: dict[str, Callable[..., Any]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "invoke_subgraph": _invoke_subgraph,
    "wrap": _wrapped,
    "wrap_activation_checkpoint": _wrapped,
    "tag_activation_checkpoint": _wrapped,
    "hints_wrapper": _hints_wrapper,
    "wrap_with_autocast": _with_autocast,
    "wrap_with_set_grad_enabled": _with_grad_enabled,
}


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Run a block with the random generators seeded, and restore them afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


__all__ = ["InterpreterError", "run", "seeded"]
