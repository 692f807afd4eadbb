"""What products cost on a CPU by ATen and by oneDNN's linear, behind the limits of `onednn_linear`.

    OMP_NUM_THREADS=2 python -m tests.benchmarks.product_costs

A row for each product: the least microseconds of each by the clock, the ratio, and the same with a
bias. The two take turns. The weight lies in columns as `torch.nn.Linear` has it (`x @ w.T`), in
rows as a backward reads it (`x @ w`); last, the data lie in columns (`x.T @ w`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import torch

from tests.benchmarks.gpu_timing import alternating

_ROUNDS = 300
_SIZES = (
    (64, 128, 64), (64, 128, 128), (16, 256, 256), (64, 128, 256), (32, 256, 256), (8, 512, 512),
    (2048, 32, 32), (512, 128, 64), (512, 128, 128), (64, 768, 768), (512, 768, 768),
    (4, 2048, 2048), (1, 2048, 2048),
)  # fmt: skip
_DTYPES = (torch.float32, torch.bfloat16)


def costs(
    rows: int, inner: int, columns: int, dtype: torch.dtype, how: str
) -> Iterator[tuple[float, float]]:
    """Milliseconds of ATen and of oneDNN for one product, without and with a bias.

    - `how`: `x @ w.T`, `x @ w` or `x.T @ w`.
    """
    generator = torch.Generator().manual_seed(0)

    def drawn(*sizes: int) -> torch.Tensor:
        return torch.randn(sizes, generator=generator).to(dtype)

    x = drawn(inner, rows).t() if how == "x.T @ w" else drawn(rows, inner)
    w = drawn(columns, inner).t() if how == "x @ w.T" else drawn(inner, columns)
    bias, out = drawn(columns), torch.empty(rows, columns, dtype=dtype)
    linear = torch.ops.mkldnn._linear_pointwise.default
    for aten, given in (
        (partial(torch.mm, x, w, out=out), None),
        (partial(torch.addmm, bias, x, w, out=out), bias),
    ):
        works = {"aten": aten, "onednn": partial(linear, x, w.t(), given, "none", [], "")}
        times = alternating(works, _ROUNDS, "cpu")
        yield times["aten"], times["onednn"]


def row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    names = ("ATen us", "oneDNN us", "ratio")
    biased = [f"with a bias: {names[0]}", *names[1:]]
    print(row(["dtype", "product", "sizes", *names, *biased]))
    print(row(["---"] * 9), flush=True)
    for dtype in _DTYPES:
        for how in ("x @ w.T", "x @ w", "x.T @ w"):
            for sizes in _SIZES:
                cells: list[str] = []
                for aten, onednn in costs(*sizes, dtype, how):
                    cells += [f"{aten * 1e3:.1f}", f"{onednn * 1e3:.1f}", f"{onednn / aten:.2f}"]
                name = str(dtype).removeprefix("torch.")
                print(row([name, f"`{how}`", " x ".join(map(str, sizes)), *cells]), flush=True)
    return 0


if __name__ == "__main__":
    with torch.no_grad():
        raise SystemExit(main())
