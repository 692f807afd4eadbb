"""One of several processes: trains small models in parallel, eagerly and through the backend.

`python -m tests.backend.paths.distributed_program RANK WORLD STORE OUT` writes, as JSON, how far
the two differ and what the stages did, for each way to be parallel.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel

from xductor import Rewrite, Tensor
from xductor.backend.records import stage_records
from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.ir import aten

SIZE, BATCH, STEPS = 256, 4, 2


class NegNeg(Rewrite):
    stage = "joint"

    def pattern(self, x: Tensor) -> Any:
        return aten.neg(aten.neg(x))

    def replacement(self, x: Tensor) -> Any:
        return x


OPTIONS: dict[str, Any] = {
    "xductor.on_error": "raise",
    "xductor.verify": "stage",
    "xductor.rewrites": [NegNeg],
}


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(SIZE, 2 * SIZE)
        self.down = nn.Linear(2 * SIZE, SIZE)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(torch.neg(torch.neg(self.up(x)))))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(SIZE, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def compiled(module: nn.Module) -> Any:
    return torch.compile(module, backend="xductor", options=OPTIONS, fullgraph=True)


def data_parallel(compiles: bool) -> nn.Module:
    """A block is as large as a bucket can be small, so that Dynamo's graph is cut into several."""
    wrapped = DistributedDataParallel(Model(), bucket_cap_mb=1)
    return torch.compile(wrapped, backend="xductor", options=OPTIONS) if compiles else wrapped


def sharded(compiles: bool) -> nn.Module:
    """Each block is compiled and then sharded, as in torchtitan."""
    model = Model()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for block in model.blocks:
        if compiles:
            block.compile(backend="xductor", options=OPTIONS, fullgraph=True)
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model


def tensor_parallel(compiles: bool) -> nn.Module:
    """Each block has its rows and columns in several processes; the sum is in the graph."""
    model = Model()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
    for block in model.blocks:
        parallelize_module(block, mesh, plan)
    return compiled(model) if compiles else model


def trained(make: Callable[[bool], nn.Module], compiles: bool, same_data: bool) -> list[Any]:
    """The losses of some steps, and the parameters after them."""
    torch.manual_seed(0)
    model = make(compiles)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(1 if same_data else 1 + dist.get_rank())
    found: list[Any] = []
    for _ in range(STEPS):
        loss = model(torch.randn(BATCH, SIZE)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        found.append(loss.detach())
    return found + [_whole(one.detach()) for one in model.parameters()]


def _whole(value: torch.Tensor) -> torch.Tensor:
    return value.full_tensor() if isinstance(value, DTensor) else value.clone()


def products(x: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    """Libraries compute the products, so that code is generated but no compiler runs."""
    from torch.distributed._functional_collectives import all_reduce

    out = torch.mm(torch.mm(x.t().t(), up), down)
    return all_reduce(out, "sum", dist.group.WORLD)


def with_code() -> dict[str, Any]:
    torch.manual_seed(dist.get_rank())
    x, up, down = torch.randn(4, 4), torch.randn(4, 6), torch.randn(6, 4)
    # The other process may have put the same graph into the cache.
    with stage_records.record(cached=True) as records:
        out = torch.compile(products, backend="xductor", options=OPTIONS)(x, up, down)
    return _result([products(x, up, down)], [out], records)


def _result(eager: list[Any], found: list[Any], records: list[Any]) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for one in records:
        counts.update(one.counts())
    return {
        "difference": max(float((a - b).abs().max()) for a, b in zip(eager, found, strict=True)),
        "size": max(float(one.abs().max()) for one in eager),
        "stages": Counter(f"{one.stage} {one.direction}" for one in records),
        "counts": counts,
        "fallbacks": [one.fallback for one in records if one.fallback],
    }


def compared(make: Callable[[bool], nn.Module], same_data: bool = False) -> dict[str, Any]:
    torch._dynamo.reset()
    eager = trained(make, False, same_data)
    with without_codegen(), stage_records.record() as records:
        found = trained(make, True, same_data)
    return _result(eager, found, records)


def main(rank: int, world: int, store: str, out: Path) -> None:
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    found = {
        "DistributedDataParallel": compared(data_parallel),
        "fully_shard": compared(sharded),
        "parallelize_module": compared(tensor_parallel, same_data=True),
        "functional collectives": with_code(),
    }
    out.write_text(json.dumps(found))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
