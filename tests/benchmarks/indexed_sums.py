"""What sums of 16-bit floats at indices cost on a GPU: added as they are, and in float32.

    python -m tests.benchmarks.indexed_sums

What `accumulate_in_float32` decides by. A row for each sum, by Inductor's kernels in bfloat16: how
many places lie side by side behind the indexed dim, the microseconds of both, and their ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch

from tests.benchmarks.gpu_timing import alternating

_ROUNDS = 20
_IN_A_ROW = 20

Sum = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _index_put(index: torch.Tensor) -> Sum:
    return lambda x, terms: torch.ops.aten.index_put(x, [index], terms, True)


def _scatter_add(dim: int, index: torch.Tensor) -> Sum:
    return lambda x, terms: torch.ops.aten.scatter_add(x, dim, index, terms)


def sums(device: str) -> Iterator[tuple[str, int, Sum, tuple[int, ...], tuple[int, ...]]]:
    """A name, how many places lie side by side, the sum, and the sizes of its operands."""

    def drawn(high: int, *sizes: int) -> torch.Tensor:
        return torch.randint(high, sizes, device=device)

    for rows, count, sizes in (
        (8, 512, (512, 1024)), (8, 4096, (16, 1024)), (1, 8192, (1024,)), (64, 8192, (1024,)),
        (4096, 8192, (1024,)), (1024, 65536, (64,)), (1024, 65536, (16,)), (1024, 262144, (4,)),
        (1024, 1048576, ()), (8, 1048576, ()),
    ):  # fmt: skip
        beside = torch.Size(sizes).numel()
        yield (
            f"index_put of {count} rows to {rows}",
            *(beside, _index_put(drawn(rows, count)), (rows, *sizes), (count, *sizes)),
        )
    for places, (dim, taken) in (
        (8, (1, (1024, 4096))), (512, (1, (1024, 4096))), (4096, (1, (1024, 4096))),
        (8, (0, (4096, 1024))), (512, (0, (4096, 1024))), (2048, (0, (4096, 1024))),
        (512, (0, (65536, 32))), (512, (0, (262144, 8))),
    ):  # fmt: skip
        shape = tuple(places if at == dim else size for at, size in enumerate(taken))
        beside = taken[1] if dim == 0 else 1
        index = drawn(places, *taken)
        name = f"scatter_add of {taken[dim]} terms to {places} in dim {dim}"
        yield name, beside, _scatter_add(dim, index), shape, taken


def _times(add: Sum, x: torch.Tensor, terms: torch.Tensor, device: str) -> dict[str, float]:
    def wide(x: torch.Tensor, terms: torch.Tensor) -> torch.Tensor:
        return add(x.float(), terms.float()).to(x.dtype)

    torch._dynamo.reset()
    for operand in (x, terms):  # so that no replay copies them
        torch._dynamo.mark_static_address(operand)
    compiled = {
        name: torch.compile(one, dynamic=False, options={"triton.cudagraphs": True})
        for name, one in (("plain", add), ("wide", wide))
    }
    works = {name: partial(one, x, terms) for name, one in compiled.items()}
    return alternating(works, _ROUNDS, device, _IN_A_ROW)


def main(device: str = "cuda") -> int:
    print("| sum | places side by side | as they are, us | in float32 | ratio |")
    print("| --- " * 5 + "|", flush=True)
    for name, beside, add, shape, taken in sums(device):
        x = torch.zeros(shape, device=device, dtype=torch.bfloat16)
        terms = torch.randn(taken, device=device, dtype=torch.bfloat16)

        times = _times(add, x, terms, device)
        cells = [f"{ms * 1e3:.1f}" for ms in times.values()]
        ratio = times["wide"] / times["plain"]
        print(f"| {name} | {beside} | {' | '.join(cells)} | {ratio:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    with torch.no_grad():
        raise SystemExit(main())
