"""Small rewrites, right and wrong, that the tests of the prover share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from xductor import EXACT, REASSOCIATES, UP_TO_ZERO_SIGN, Proof, Rewrite, Tensor, all_of
from xductor.ir import aten, prims
from xductor.transforms import known, no


class Joint(Rewrite, abstract=True):
    stage = "joint"


class PermuteTwice(Joint):
    def pattern(self, x: Tensor, p: list[int], q: list[int]) -> Any:
        return aten.permute(aten.permute(x, p), q)

    def replacement(self, x: Tensor, p: list[int], q: list[int]) -> Any:
        return aten.permute(x, [p[dim] for dim in q])


class PermutedBackwards(PermuteTwice):
    def replacement(self, x: Tensor, p: list[int], q: list[int]) -> Any:
        return aten.permute(x, [q[dim] for dim in p])


class TimesOne(Joint):
    def pattern(self, x: Tensor) -> Any:
        return aten.mul(x, 1)

    def where(self, x: Tensor) -> Any:
        return x.dtype != torch.bool or no("truth values become integers")

    def replacement(self, x: Tensor) -> Any:
        return x


class PlusZero(Joint):
    """`x + zeros -> x`, as stock Inductor's constant folding has it."""

    numerics = EXACT

    def pattern(self, x: Tensor) -> Any:
        return aten.add(x, aten.zeros_like(x))

    def where(self, x: Tensor) -> Any:
        return x.is_floating_point

    def replacement(self, x: Tensor) -> Any:
        return x


class PlusZeroDeclared(PlusZero):
    numerics = UP_TO_ZERO_SIGN


class MinusZero(PlusZero):
    def pattern(self, x: Tensor) -> Any:
        return aten.sub(x, aten.zeros_like(x))


class BmmToMm(Joint):
    numerics = REASSOCIATES

    def pattern(self, a: Tensor, b: Tensor) -> Any:
        return aten.bmm(a, b)

    def where(self, a: Tensor, b: Tensor) -> Any:
        return all_of(a.shape[0] == 1, b.shape[0] == 1)

    def replacement(self, a: Tensor, b: Tensor) -> Any:
        return aten.unsqueeze(aten.mm(aten.squeeze(a, 0), aten.squeeze(b, 0)), 0)


class BmmForgotten(BmmToMm):
    def where(self, a: Tensor, b: Tensor) -> Any:
        return True


class NeverTaken(TimesOne):
    def where(self, x: Tensor) -> Any:
        return all_of(x.ndim == 1, *[size < 0 for size in x.shape])


class SliceOfSlice(Joint):
    """Sizes, starts and ends that may be any."""

    def pattern(self, x: Tensor, a: int, b: int) -> Any:
        return aten.slice(aten.slice(x, 0, a), 0, b)

    def where(self, a: int, b: int) -> Any:
        return all_of(a >= 0, b >= 0)

    def replacement(self, x: Tensor, a: int, b: int) -> Any:
        return aten.slice(x, 0, a + b)


class SliceOfSliceForgotten(SliceOfSlice):
    def where(self, a: int, b: int) -> Any:
        return True


class CatOfSplit(Joint):
    def pattern(self, x: Tensor, n: int) -> Any:
        a, b = aten.split_with_sizes(x, [n, ...], 1)[0], aten.split_with_sizes(x, [n, ...], 1)[1]
        return aten.cat([a, b], 1)

    def replacement(self, x: Tensor) -> Any:
        return aten.clone(x)


class ScaleTwice(Joint):
    """A product of scalars that may be any is rounded otherwise."""

    def pattern(self, x: Tensor, a: float, b: float) -> Any:
        return aten.mul(aten.mul(x, a), b)

    def replacement(self, x: Tensor, a: float, b: float) -> Any:
        return aten.mul(x, a * b)


class KnownOnly(Joint):
    """`known` is no condition that holds where it says no: both answers are looked at."""

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return aten.cat([x, y], 0)

    def where(self, x: Tensor, y: Tensor) -> Any:
        if x.ndim != y.ndim or x.dtype != y.dtype:
            return no("a cat of what is not alike")
        return known(x.shape[0] == 0)

    def replacement(self, y: Tensor) -> Any:
        return aten.clone(y)


class HalfBfloat(Joint):
    """`f32 -> f16 -> bf16` merged, as stock Inductor has it."""

    def pattern(self, x: Tensor) -> Any:
        inner = prims.convert_element_type(x, torch.float16)
        return prims.convert_element_type(inner, torch.bfloat16)

    def where(self, x: Tensor) -> Any:
        return x.dtype == torch.float32

    def replacement(self, x: Tensor) -> Any:
        return prims.convert_element_type(x, torch.bfloat16)


class NoSuchMeaning(Joint):
    def pattern(self, x: Tensor) -> Any:
        return aten.abs(aten.special_i0(x))

    def replacement(self, x: Tensor) -> Any:
        return aten.special_i0(x)


def assert_example_fails(proof: Proof, folder: Path) -> None:
    """The counter-example's script raises where the two sides differ."""
    assert proof.status == "refuted", proof
    assert proof.counter_example is not None, proof.reason
    path = folder / "example.py"
    path.write_text(proof.counter_example.script)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    raised = done.stderr.strip().splitlines()[-1]
    assert "AssertionError" in raised or "replacement raises" in proof.counter_example.problem, (
        done.stderr
    )
