"""What products cost on a CPU by ATen and by oneDNN's linear, behind the limits of `onednn_linear`.
With packed weights, by MKL and by oneDNN: behind the limit of `mkldnn_linear_packing`.

    OMP_NUM_THREADS=2 python -m tests.benchmarks.product_costs

A row for each product: the least microseconds of each by the clock, the ratio, and the same with a
bias. The two take turns. The weight lies in columns as `torch.nn.Linear` has it (`x @ w.T`), in
rows as a backward reads it (`x @ w`), or the data lie in columns (`x.T @ w`). Last, a packed weight
of float32 (`packed`): the first of the two is MKL's product then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import torch

from tests.benchmarks.gpu_timing import Work, alternating

_ROUNDS = 300
_SIZES = (
    (64, 128, 64), (64, 128, 128), (16, 256, 256), (64, 128, 256), (32, 256, 256), (8, 512, 512),
    (2048, 32, 32), (512, 128, 64), (512, 128, 128), (64, 768, 768), (512, 768, 768),
    (4, 2048, 2048), (1, 2048, 2048),
)  # fmt: skip
_HOW = ("x @ w.T", "x @ w", "x.T @ w", "packed")
_DTYPES = (torch.float32, torch.bfloat16)


def costs(
    rows: int, inner: int, columns: int, dtype: torch.dtype, how: str
) -> Iterator[tuple[float, float]]:
    """Milliseconds of ATen and of oneDNN for one product, without and with a bias.

    - `how`: `x @ w.T`, `x @ w`, `x.T @ w` or `packed`.
    """
    generator = torch.Generator().manual_seed(0)

    def drawn(*sizes: int) -> torch.Tensor:
        return torch.randn(sizes, generator=generator).to(dtype)

    x = drawn(inner, rows).t() if how == "x.T @ w" else drawn(rows, inner)
    w = drawn(columns, inner).t() if how in ("x @ w.T", "packed") else drawn(inner, columns)
    bias, out = drawn(columns), torch.empty(rows, columns, dtype=dtype)
    linear = torch.ops.mkldnn._linear_pointwise.default
    works: dict[str, Work] = {}
    for given in (None, bias):
        works["onednn"] = partial(linear, x, w.t(), given, "none", [], "")
        if how == "packed":
            works |= _of_packed(x, w.t().contiguous(), given)
        elif given is None:
            works["aten"] = partial(torch.mm, x, w, out=out)
        else:
            works["aten"] = partial(torch.addmm, bias, x, w, out=out)
        times = alternating(works, _ROUNDS, "cpu")
        yield times["aten"], times["onednn"]


def _of_packed(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None) -> dict[str, Work]:
    rows, mkl, mkldnn = len(x), torch.ops.mkl, torch.ops.mkldnn
    for_mkl = mkl._mkl_reorder_linear_weight(w, rows)
    packed = mkldnn._reorder_linear_weight(w, rows)
    return {
        "aten": partial(mkl._mkl_linear, x, for_mkl, w, bias, rows),
        "onednn": partial(mkldnn._linear_pointwise.default, x, packed, bias, "none", [], ""),
    }


def row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    names = ("ATen us", "oneDNN us", "ratio")
    biased = [f"with a bias: {names[0]}", *names[1:]]
    print(row(["dtype", "product", "sizes", *names, *biased]))
    print(row(["---"] * 9), flush=True)
    for dtype in _DTYPES:
        for how in _HOW if dtype is torch.float32 else _HOW[:-1]:
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
