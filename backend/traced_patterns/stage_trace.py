"""Traces a function to the calls that it is at a stage, as a rewrite sees them there."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.func import functional_call
from torch.utils._pytree import tree_leaves
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue

from xductor.backend.config.placement import Place, Placed
from xductor.backend.explained_compile import probe
from xductor.backend.testing.captured_stages import capture
from xductor.ir import GraphOp, OutputOp, SymIntType, TensorType, TorchOp, entry_graph
from xductor.ir.functions.torch_calls import AtenCall, aten_call
from xductor.ir.text.diagnostics import op_line
from xductor.transforms import Stage
from xductor.transforms.matching.patterns import PatternError

#: A parameter of the function by name, with what it is called with.
Given = Mapping[str, Any]


@dataclass(frozen=True)
class StageTrace:
    """The calls that a function is at a stage.

    - `given`: what the function was called with, by parameter.
    - `inputs`: the name and the type of each tensor that it takes, in order of its parameters.
    - `values`: the names of these by value.
    - `ops`: the ops that make its results, in order, each as the ATen call that it means, if it
      means one; `outputs`: these results.
    """

    given: Given
    module: ModuleOp
    graph: GraphOp
    inputs: Mapping[str, TensorType]
    values: Mapping[SSAValue, str]
    ops: tuple[TorchOp | AtenCall, ...]
    outputs: tuple[SSAValue, ...]


def parameters_of(function: Callable[..., Any], inputs: Sequence[Any]) -> dict[str, Any]:
    """The inputs by the names of the parameters; those of `*args` are numbered.

    A module's parameters and buffers follow, as further inputs. Raises PatternError if the function
    does not take the inputs, or for an input of a kind that patterns do not have.
    """
    called = function.forward if isinstance(function, torch.nn.Module) else function
    try:
        signature = inspect.signature(called)
    except ValueError:  # written in C, without one
        signature = inspect.signature(lambda *x: None)
    try:
        bound = signature.bind(*inputs)
    except TypeError as error:
        raise PatternError(f"{name_of(function)} does not take these inputs: {error}") from error
    found: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            found.update((f"{name}_{place}", one) for place, one in enumerate(value))
        else:
            found[name] = value
    for name, value in found.items():
        if not isinstance(value, torch.Tensor | int | float | str | torch.dtype | torch.device):
            raise PatternError(
                f"{name_of(function)}: `{name}` is a {type(value).__name__}; a pattern is made of "
                "tensors, numbers, strings, dtypes and devices"
            )
    if isinstance(function, torch.nn.Module):
        state = function.state_dict(keep_vars=True)
        found.update((name, state[path]) for name, path in state_names(function, found).items())
    return found


def state_names(module: torch.nn.Module, taken: Collection[str]) -> dict[str, str]:
    """A name for each parameter and buffer of a module, with its path."""
    found: dict[str, str] = {}
    for path in module.state_dict(keep_vars=True):
        name = path.replace(".", "_")
        name = name if name.isidentifier() else f"p_{name}"
        found[next(one for one in _numbered(name) if one not in taken and one not in found)] = path
    return found


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, or of a module's class."""
    return getattr(function, "__name__", type(function).__name__)


def traced(
    function: Callable[..., Any], given: Given, stage: Stage, place: Place, *, dynamic: bool
) -> StageTrace:
    """Compile a function without kernels and read what it is at a stage, at the place of a rewrite.

    `dynamic` gives the sizes of the inputs symbols. What is no tensor is a constant. The inputs
    require no gradient.

    Raises PatternError if it is not one graph that computes tensors from tensors, and what
    compiling or running it raises.
    """
    tensors = {name: one for name, one in given.items() if isinstance(one, torch.Tensor)}

    def call(*args: torch.Tensor) -> Any:
        values = {**given, **dict(zip(tensors, args, strict=True))}
        if not isinstance(function, torch.nn.Module):
            return function(*values.values())
        own = state_names(function, list(values)[: len(values) - len(function.state_dict())])
        state = {path: values.pop(name) for name, path in own.items()}
        return functional_call(function, state, tuple(values.values()))

    copies = {name: one.detach().clone() for name, one in tensors.items()}
    versions = {name: one._version for name, one in copies.items()}
    modules: list[ModuleOp] = []
    look = Placed(probe((stage,), lambda module: modules.append(module.clone())), place)
    with (
        torch.random.fork_rng(devices=()),
        torch._dynamo.config.patch(specialize_int=True, specialize_float=True),
        _compiling(),
    ):
        stages = capture(
            call,
            *copies.values(),
            rewrites=[look],
            options={"xductor.on_error": "raise", "xductor.report": None},
            dynamic=dynamic,
            backward=False,
        )
    before = [one for one in stages if one.stage == "pre_grad"]
    written = [name for name, one in copies.items() if one._version != versions[name]]
    if written:
        raise PatternError(
            f"{name_of(function)} writes to {', '.join(written)}; a pattern describes values. An "
            "operator that writes is matched in its functional form: write that pattern by hand"
        )
    if not before:
        raise PatternError(f"{name_of(function)} calls no operator of PyTorch on these inputs")
    if len(modules) != 1 or len(before) != 1:
        raise PatternError(
            f"{name_of(function)} is {len(before)} graphs, with {len(modules)} calls of the "
            f"{stage} stage; expected one of each, without a graph break"
        )
    if len(list(modules[0].ops)) != 1:
        raise PatternError(
            f"{name_of(function)} calls a higher-order op with a body of its own, which no pattern "
            "describes"
        )
    names_of_inputs = _input_names(entry_graph(before[0].before), list(tensors))
    results = [one for one in tree_leaves(stages.output) if isinstance(one, torch.Tensor)]
    return _read(name_of(function), given, modules[0], names_of_inputs, len(results))


@contextmanager
def _compiling() -> Iterator[None]:
    """Let Dynamo work even where it is turned off for the process, as `xductor bisect` does."""
    name = "TORCHDYNAMO_DISABLE"
    kept = os.environ.pop(name, None)
    try:
        yield
    finally:
        if kept is not None:
            os.environ[name] = kept


def _read(
    function: str, given: Given, module: ModuleOp, names: Sequence[str], results: int
) -> StageTrace:
    graph = entry_graph(module)
    tensors = [one for one in graph.block.args if isinstance(one.type, TensorType)]
    values: dict[SSAValue, str] = dict(zip(tensors, names, strict=True))
    outputs = tuple(graph.output.operands)
    order = [*given, *[name for name in names if name not in given]]
    inputs: dict[str, Any] = {name: one.type for one, name in values.items()}
    if len(outputs) != results:
        raise PatternError(
            f"{function} returns {results} tensors, and its graph {len(outputs)} values: a pattern "
            "returns different tensors, each once, and no sizes"
        )
    for output in outputs:
        if isinstance(output, BlockArgument):
            raise PatternError(f"{function} returns `{values[output]}` as it got it")
    needed = _needed(graph, outputs)
    for op in graph.block.ops:
        if isinstance(op, TorchOp) and op not in needed and type(op) is not OutputOp:
            _check_unneeded(function, op)
    ops = tuple([aten_call(op) or op for op in needed])
    return StageTrace(
        given,
        module,
        graph,
        {name: inputs[name] for name in order if name in inputs},
        values,
        ops,
        outputs,
    )


def _check_unneeded(function: str, op: TorchOp) -> None:
    if not op.effects.removable(fallback_random=False):
        raise PatternError(
            f"{function} does more than to compute its results: {op_line(op)}. A pattern describes "
            "values alone"
        )


def _needed(graph: GraphOp, outputs: Sequence[SSAValue]) -> list[TorchOp]:
    """The ops that outputs are computed by, in order. Sizes are looked at where they are read."""
    wanted = {value.owner for value in outputs}
    found: list[TorchOp] = []
    for op in reversed(list(graph.block.ops)):
        if op in wanted and isinstance(op, TorchOp):
            found.append(op)
            wanted.update(one.owner for one in op.operands if not isinstance(one.type, SymIntType))
    return found[::-1]


def _input_names(graph: GraphOp, names: Sequence[str]) -> list[str]:
    """For each tensor of a graph before autograd, the parameter of the function that it is.

    A tensor that the function holds itself, such as a global, has the name that Dynamo gives it.
    """
    found: list[str] = []
    for argument, name in zip(graph.block.args, graph.argument_names, strict=True):
        if not isinstance(argument.type, TensorType):
            continue
        numbered = re.fullmatch(r"l_args_(\d+)_", name)
        held = _numbered(name.strip("_"))
        if numbered:
            found.append(names[int(numbered[1])])
        else:
            found.append(next(one for one in held if one not in names and one not in found))
    return found


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 1
    while True:
        yield f"{name}_{number}"
        number += 1


__all__ = ["Given", "StageTrace", "name_of", "parameters_of", "traced"]
