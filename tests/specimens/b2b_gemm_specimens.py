"""Graphs for `b2b_gemm_pass`: two products with pointwise ops between them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.pass_validation.comparison import same_results_as_fx
from xductor.backend.pass_validation.same_draws import on_cpu
from xductor.backend.pass_validation.specimen import Specimen
from xductor.ir import parse_ir
from xductor.transforms import EXACT, Numerics
from xductor.transforms.matmul.b2b_gemm_pass import B2bGemmPass

SEEDS = 60

_UNARY = ("relu", "neg", "abs", "sin")
_BINARY = ("add", "mul", "sub")
#: Sizes for which two products in one are fewer loads, for each order.
_SIZES = {True: (128, 8, 128, 16), False: (16, 128, 8, 128)}


def same_on_cpu(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """Compare results with everything on the CPU, where the call computes what it stands for.

    They are the same bits: that kernels round otherwise is seen on a GPU alone.
    """
    return same_results_as_fx(on_cpu(before), on_cpu(after), EXACT)


def text(left: bool, lines: list[str], middle: str, more: str = "", dtype: str = "f32") -> str:
    """A graph of two products; `lines` compute `middle` from `%p`, the inner one."""
    m, n, o, p = _SIZES[left]

    def matrix(rows: int, columns: int) -> str:
        return f"!fx.tensor<{dtype}[{rows}, {columns}], cuda:0>"

    inputs = f"%a : {matrix(m, n)}, %b : {matrix(n, o)}, %c : {matrix(o, p)}"
    inner = matrix(m, o) if left else matrix(n, p)
    operands = ("%a, %b", f"{middle}, %c") if left else ("%b, %c", f"%a, {middle}")
    body = [
        f"  %p = aten.mm.default {operands[0]} : {inner}",
        *[line.replace("TYPE", inner) for line in lines],
        f"  %r = aten.mm.default {operands[1]} : {matrix(m, p)}",
    ]
    head = f"fx.graph @products stage(post_grad) symbols() ({inputs}) {{"
    return "\n".join([head, *body, f"  fx.output (%r,{more})", "}"])


def random_products(seed: int) -> str:
    """Two products with up to four pointwise ops between them."""
    chance = random.Random(seed)
    lines, values = list[str](), ["%p"]
    for place in range(chance.randint(0, 4)):
        a, b = values[-1], chance.choice(values)
        if chance.random() < 0.5:
            call = f"aten.{chance.choice(_UNARY)}.default {a}"
        else:
            call = f"aten.{chance.choice(_BINARY)}.Tensor {a}, {b}"
        lines.append(f"  %v{place} = {call} : TYPE")
        values.append(f"%v{place}")
    dtype = chance.choice(("f32", "f32", "f16", "bf16"))
    return text(bool(seed % 2), lines, values[-1], dtype=dtype)


def products() -> Iterator[Specimen]:
    """Random pairs of products, in both orders."""
    for seed in range(SEEDS):
        yield Specimen(f"products {seed}", parse_ir(random_products(seed)), B2bGemmPass())


__all__ = ["products", "random_products", "same_on_cpu", "text"]
