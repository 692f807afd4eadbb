"""Graphs for `decompose_triton_kernel_wrapper_functional`, and kernels that stand for Triton's.

No kernel runs: what passes may do follows from what a kernel is given and writes. Here each sets
what it writes to a mix of all that it is given.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.pass_validation.specimen import Specimen
from xductor.ir import entry_graph, parse_ir
from xductor.transforms import Numerics
from xductor.transforms.in_place.decompose_triton_kernel_wrapper_functional import (
    DecomposeTritonKernelWrapperFunctional,
)
from xductor.transforms.in_place.reinplace_inplaceable_ops import ReinplaceInplaceableOps
from xductor.transforms.rewriting.contracts import Violation

SEEDS = 60
TENSOR = "!fx.tensor<f32[8], cpu>"
_ROUNDS = 4


def kernel(name: str, given: dict[str, str], written: list[str]) -> str:
    arguments = ", ".join(f'"{key}": {value}' for key, value in given.items())
    clones = ", ".join(f'"{key}"' for key in written)
    return (
        f"  {name} = higher_order.triton_kernel_wrapper_functional kernel_idx = 0, "
        "constant_args_idx = 0, grid = [(1, 1, 1)], tma_descriptor_metadata = {}, "
        f"kwargs = {{{arguments}}}, tensors_to_clone = [{clones}] "
        ': !fx.object<"builtins.dict">'
    )


def pick(name: str, call: str, key: str) -> str:
    return f'  {name} = pyfn._operator.getitem {call}, "{key}" : {TENSOR}'


def op(name: str, op: str, *operands: str) -> str:
    return f"  {name} = aten.{op} {', '.join(operands)} : {TENSOR}"


def graph(lines: list[str], outputs: list[str]) -> str:
    head = f"fx.graph @f stage(post_grad) symbols() (%x : {TENSOR}, %y : {TENSOR}) {{"
    return "\n".join([head, *lines, f"  fx.output ({', '.join(outputs)},)", "}"])


def random_graph(seed: int) -> str:
    """Kernels and other calls over a few tensors, with an epilogue."""
    chance = random.Random(seed)
    values, lines = ["%x", "%y"], list[str]()
    for place in range(chance.randint(2, 7)):
        if chance.random() < 0.4:
            lines.append(op(f"%v{place}", "sin.default", chance.choice(values)))
            values.append(f"%v{place}")
            continue
        given = {key: chance.choice(values) for key in "abc"}
        written = chance.sample("abc", chance.randint(1, 2))
        lines.append(kernel(f"%t{place}", given, written))
        for key in written:
            for again in range(chance.choice((0, 1, 1, 1, 2))):
                name = f"%p{place}{key}{again}"
                lines.append(pick(name, f"%t{place}", key))
                values.append(name)
    if chance.random() < 0.5:
        lines.append(op("%e", "copy_.default", "%y", chance.choice(values)))
    outputs = chance.sample(values, min(len(values), chance.randint(1, 3)))
    return graph(lines, outputs)


def run_with_kernel(text: Any, inputs: list[torch.Tensor]) -> Any:
    """Run a graph in which a kernel sets what it writes to a mix of all that it is given."""
    values: dict[Any, Any] = dict(zip(entry_graph(text).arguments, inputs, strict=True))

    def mixed(given: dict[str, torch.Tensor], names: list[str], clones: list[str]) -> Any:
        given = {key: value.clone() if key in clones else value for key, value in given.items()}
        total: Any = sum((one + 1) * given[key].clone() for one, key in enumerate(sorted(given)))
        for place, name in enumerate(sorted(names)):
            given[name].copy_(total * (place + 2))
        return {name: given[name] for name in names}

    calls: Any = entry_graph(text).block.ops
    for call in calls:
        operands = [values[one] for one in call.operands]
        if call.name.startswith("higher_order.triton"):
            given = {key: values[value] for key, value in call.keywords["kwargs"]}
            said = call.node.text_items().get("writes")
            names = list(call.keywords["tensors_to_clone"]) if said is None else json.loads(said)
            values[call.results[0]] = mixed(given, names, names if said is None else [])
        elif call.name == "pyfn._operator.getitem":
            values[call.results[0]] = operands[0][call.positional[1]]
        elif call.name == "fx.output":
            return [*operands, *inputs]
        else:
            method = getattr(operands[0], call.name.split(".")[1])
            values[call.results[0]] = method(*operands[1:])
    return None


def same_with_kernels(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """Compare results, inputs afterwards and who shares storage. Raises Violation."""
    for seed in range(_ROUNDS):
        torch.manual_seed(seed)
        inputs = [torch.randn(8) for _ in entry_graph(before).arguments]
        sides = [run_with_kernel(one, [x.clone() for x in inputs]) for one in (before, after)]
        for place, (old, new) in enumerate(zip(*sides, strict=True)):
            if not torch.equal(old, new):
                raise Violation(f"value {place} is {new}, and was {old}")
        storages = [[one.untyped_storage().data_ptr() for one in side] for side in sides]
        if len({tuple(side.index(one) for one in side) for side in storages}) > 1:
            raise Violation("storage is shared otherwise than before")
    return _ROUNDS


def kernels() -> Iterator[Specimen]:
    """Random graphs, as `reinplace_inplaceable_ops` leaves them."""
    for seed in range(SEEDS):
        given = parse_ir(random_graph(seed))
        ReinplaceInplaceableOps().rewrite(given)
        one = DecomposeTritonKernelWrapperFunctional()
        yield Specimen(f"graph {seed}", parse_ir(random_graph(seed)), one, given=given)


__all__ = [
    "TENSOR", "graph", "kernel", "kernels", "op", "pick", "random_graph", "run_with_kernel",
    "same_with_kernels",
]  # fmt: skip
