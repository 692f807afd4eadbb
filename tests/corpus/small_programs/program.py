"""What a small program is, and the kinds of graph that they show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.fx as fx
from torch._dynamo import config as dynamo_config
from torch._inductor import config as inductor_config

KINDS = {
    "unused slots": "a tuple, some of whose slots nothing reads",
    "one slot twice": "two getitem nodes of one slot",
    "whole tuple": "a tuple that is an argument or an output as it is",
    "nested tuple": "tuples of tuples, and the nested one used",
    "size": "size(), shape and numel of a tensor of symbolic sizes",
    "sym_size": "aten.sym_size and arithmetic on it",
    "assert_scalar": "aten._assert_scalar on a number from data",
    "check": "torch._check and its like",
    "effect tokens": "tokens that thread through effectful calls",
    "script object": "an object that operators take",
    "backward state": "BackwardState, an input that a hook fills",
    "dotted get_attr": "attributes by a path with dots",
    "tensor constant": "tensors that the graph holds",
    "lift_fresh_copy": "a copy of a constant, which is written to",
    "output int": "an output that is a Python number",
    "output symint": "an output that is a symbolic number",
    "output none": "outputs that are None",
    "output nested": "outputs in dicts and tuples",
    "output twice": "one value as two outputs",
    "higher-order keywords": "keyword arguments of a higher-order op",
    "symint slice": "slices with symbolic bounds",
    "ellipsis": "an Ellipsis among indices",
    "none in index": "None among the tensors of an index",
    "dtype": "arguments that are dtypes",
    "layout": "arguments that are layouts",
    "memory format": "arguments that are memory formats",
    "device": "arguments that are devices",
    "generator": "arguments that are generators",
    "bool int float": "True, 1 and 1.0 in one graph",
    "negative zero": "-0.0 beside 0.0",
    "nan": "NaN as an argument",
    "inf": "both infinities as arguments",
    "complex": "complex numbers as arguments",
    "int64": "integers that need 64 bits",
    "lowering": "calls of lowering functions that a pattern put there",
    "inductor_prims": "operators of Inductor's own",
    "overload packet": "calls of an operator without its overload",
    "torch.sym": "torch.sym_max and its like",
    "math": "calls of Python's math module",
    "triton side table": "Triton kernels by their place in a table",
    "node.type": "nodes with a type annotation",
    "keyword name": "nodes named like keywords of Python or of the text",
    "odd name": "nodes whose names are not legal in SSA",
    "live object": "objects that text can only name",
    "resource": "tensor constants that stand in the text",
}


@dataclass(frozen=True)
class Program:
    """A function with inputs, the kind that it shows, and the text by which one sees that it does.

    - `build` gives the function and its inputs. A function that is a GraphModule goes to Inductor
      as it is, past Dynamo.
    - `shows`: pieces of text, each in the IR of some graph.
    - `after`: the graph that comes out of post-grad is looked at as well.
    - `not_run`: why some graphs cannot be run on made-up inputs: part of the reason.
    - `ends_early`: the stage after which the compile fails here, its graphs being seen by then.
    """

    name: str
    kind: str
    build: Callable[[], tuple[Any, Sequence[Any]]]
    shows: tuple[str, ...]
    train: bool = False
    dynamic: bool = False
    after: bool = False
    not_run: str | None = None
    ends_early: str | None = None
    fullgraph: bool = True
    dynamo: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inductor: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def step(self) -> None:
        """Compile with stock Inductor and run, the backward too in training."""
        torch.manual_seed(0)
        function, inputs = self.build()
        with ExitStack() as stack:
            if self.dynamo:
                stack.enter_context(dynamo_config.patch(**self.dynamo))
            if self.inductor:
                stack.enter_context(inductor_config.patch(**self.inductor))
            if isinstance(function, fx.GraphModule):
                compiled: Any = torch._inductor.compile(function, list(inputs))
            else:
                compiled = torch.compile(function, dynamic=self.dynamic, fullgraph=self.fullgraph)
            outputs = compiled(*inputs)
            if self.train:
                self._backward(outputs)

    @staticmethod
    def _backward(outputs: Any) -> None:
        leaves = torch.utils._pytree.tree_leaves(outputs)
        wanting = [x for x in leaves if isinstance(x, torch.Tensor) and x.requires_grad]
        torch.autograd.backward(wanting, [torch.ones_like(x) for x in wanting])


PROGRAMS: dict[str, Program] = {}


def program(
    kind: str, *shows: str, **options: Any
) -> Callable[[Callable[[], tuple[Any, Sequence[Any]]]], Program]:
    """Register a function that builds a program, under its own name."""
    if kind not in KINDS:
        raise ValueError(f"no kind '{kind}'")

    def register(build: Callable[[], tuple[Any, Sequence[Any]]]) -> Program:
        name = build.__name__
        if name in PROGRAMS:
            raise ValueError(f"there is a program '{name}' already")
        PROGRAMS[name] = Program(name, kind, build, shows, **options)
        return PROGRAMS[name]

    return register
