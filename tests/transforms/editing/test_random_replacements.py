"""Random graphs of copies, views and writes: what stands for what is what eager cannot tell."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch

from xductor.backend.pass_validation.comparison import same_results
from xductor.backend.pass_validation.specimen import traced
from xductor.ir import print_ir
from xductor.transforms import EXACT, TypedPass
from xductor.transforms.joint_graph.remove_redundant_views import RemoveRedundantViews
from xductor.transforms.noops.remove_no_ops import RemoveNoOps
from xductor.transforms.noops.remove_noop_ops import RemoveNoopOps

_STEPS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: torch.ops.aten.contiguous(x),
    "alias": lambda x: torch.ops.aten.alias(x),
    "view": lambda x: x.view(x.shape),
    "reshape": lambda x: torch.ops.aten.reshape(x, [4, 2]) if x.shape == (2, 4) else x.t(),
    "slice": lambda x: torch.ops.aten.slice(x, 0, 0, x.shape[0]),
    "part": lambda x: x[:1].expand(x.shape),
    "transpose": lambda x: x.t(),
    "integers": lambda x: x.view(torch.int32).view(torch.float32),
    "add": lambda x: x + torch.zeros_like(x).neg(),
    "mul": lambda x: x * torch.ones_like(x),
    "sin": lambda x: x.sin(),
    "scatter": lambda x: torch.slice_scatter(x, x[:1] + 1, 0, 0, 1),
    "write": lambda x: x.add_(1) if 0 not in x.stride() else x.clone(),
}


def program(seed: int) -> Callable[..., Any]:
    """A function that takes steps from values that it has, writes to some, and returns some."""

    def run(*inputs: torch.Tensor) -> Any:
        pick = random.Random(seed)
        values = list(inputs)
        for _ in range(pick.randint(2, 9)):
            name = pick.choice(list(_STEPS))
            values.append(_STEPS[name](pick.choice(values[-4:])))
        if pick.random() < 0.4:
            written, found = pick.choice(inputs), pick.choice(values)
            if written.shape == found.shape:
                written.copy_(found)
        return pick.sample(values[len(inputs) :], min(3, len(values) - len(inputs)))

    return run


def test_eager_cannot_tell() -> None:
    check(range(60))


def check(seeds: range) -> None:
    """Run the passes on the programs of some seeds, before and after."""
    passes: list[TypedPass] = [RemoveNoopOps(), RemoveNoOps(), RemoveRedundantViews()]
    applied: Counter[str] = Counter()
    for seed in seeds:
        module = traced(program(seed), torch.ones(2, 4), torch.ones(2, 4), stage="post_grad")
        assert module is not None, seed
        for one in passes:
            changed = module.clone()
            applied[one.name] += one.rewrite(changed)
            try:
                same_results(module, changed, EXACT)
            except Exception as error:
                error.add_note(f"seed {seed}, {one.name}\n{print_ir(module)}{print_ir(changed)}")
                raise
    assert min(applied[one.name] for one in passes) >= 2, applied
