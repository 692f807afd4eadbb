"""What generated instances hold: calls by position, operands that fit, lists of unlike tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import xductor
from xductor import REASSOCIATES, Rewrite, Tensor
from xductor.ir import aten, op_class, op_class_by_name, ops
from xductor.ir.dialect.python_call_binding import bind_call, call_arguments
from xductor.transforms.validation.instance_choices import Choices
from xductor.transforms.validation.validate import ValidationResult, validate

F = ops.pyfn.torch.nn.functional


class PreGrad(Rewrite, abstract=True):
    stage = "pre_grad"


class Product(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return ops.pyfn._operator.mul(F.relu(x), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return ops.pyfn._operator.mul(y, F.relu(x))


class ProductByMethod(Product):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return ops.method.mul(F.relu(x), y)


class TransposedTwice(PreGrad):
    def pattern(self, x: Tensor, a: int, b: int) -> Any:
        return ops.method.transpose(ops.method.transpose(x, a, b), a, b)

    def replacement(self, x: Tensor) -> Any:
        return ops.method.view_as(x, x)


class WrongDifference(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return ops.pyfn._operator.sub(F.relu(x), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return ops.pyfn._operator.sub(y, F.relu(x))


class BiasAdded(PreGrad):
    numerics = REASSOCIATES

    def pattern(self, x: Tensor, w: Tensor, b: Tensor) -> Any:
        return F.relu(F.linear(x, w, b))

    def where(self, x: Tensor) -> Any:
        return x.dtype == torch.float32

    def replacement(self, x: Tensor, w: Tensor, b: Tensor) -> Any:
        return F.relu(ops.pyfn._operator.add(F.linear(x, w), b))


class Added(Rewrite):
    stage, numerics = "joint", REASSOCIATES

    def pattern(self, b: Tensor, x: Tensor, y: Tensor) -> Any:
        return aten.addmm(b, x, y)

    def where(self, b: Tensor, x: Tensor) -> Any:
        return b.dtype == x.dtype and x.dtype in (torch.float32, torch.float64)

    def replacement(self, b: Tensor, x: Tensor, y: Tensor) -> Any:
        return aten.add(aten.mm(x, y), b)


class AddedToBatch(Added):
    def pattern(self, b: Tensor, x: Tensor, y: Tensor) -> Any:
        return aten.baddbmm(b, x, y)

    def replacement(self, b: Tensor, x: Tensor, y: Tensor) -> Any:
        return aten.add(aten.bmm(x, y), b)


class Convolved(Rewrite):
    stage, numerics = "joint", REASSOCIATES

    def pattern(self, x: Tensor, w: Tensor, b: Tensor) -> Any:
        return aten.convolution(x, w, b, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)

    def replacement(self, x: Tensor, w: Tensor, b: Tensor) -> Any:
        plain = aten.convolution(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
        return aten.add(plain, aten.view(b, [-1, 1, 1]))


class NothingAdded(Rewrite):
    """Meta kernels take what eager refuses: a first operand of another dtype, not read."""

    stage, numerics = "joint", REASSOCIATES

    def pattern(self, b: Tensor, x: Tensor, y: Tensor) -> Any:
        return aten.addmm(b, x, y, beta=0)

    def where(self, b: Tensor, x: Tensor, y: Tensor) -> Any:
        return b.dtype != x.dtype

    def replacement(self, b: Tensor, x: Tensor, y: Tensor) -> Any:
        return aten.mm(x, y)


@pytest.mark.parametrize("rewrite", [Product, ProductByMethod, TransposedTwice])
def test_python_calls_are_made_by_position(rewrite: type[Rewrite]) -> None:
    assert validate(rewrite, instances=6, rounds=1).status == "validated"


def test_a_wrong_rewrite_of_python_calls_is_violated() -> None:
    assert validate(WrongDifference, instances=6).status == "violated"


@pytest.mark.parametrize("rewrite", [Added, AddedToBatch, BiasAdded])
def test_operands_of_products_fit(rewrite: type[Rewrite]) -> None:
    result = validate(rewrite, instances=6, dtypes=[torch.float32], rounds=1)
    assert (result.status, result.instances) == ("validated", 6)
    assert _not_made(result) <= 6


def test_operands_of_convolutions_fit() -> None:
    result = validate(Convolved, instances=4, dtypes=[torch.float32], rounds=1)
    assert (result.status, result.instances) == ("validated", 4)


def _not_made(result: ValidationResult) -> int:
    return sum(n for why, n in result.declined.items() if why.startswith("cannot be made"))


def test_what_eager_refuses_is_not_held_against_a_rewrite() -> None:
    result = validate(NothingAdded, instances=2, rounds=1)
    assert result.status == "vacuous", result
    assert "must have the same dtype" in str(result) or "expected m1 and m2" in str(result)


def test_the_reason_why_none_could_be_made_is_told() -> None:
    class FromTheSecondDim(Rewrite):
        stage = "joint"

        def pattern(self, x: Tensor) -> Any:
            return aten.select(aten.view(x, [7, 11, 13]), 0, 9)

        def replacement(self, x: Tensor) -> Any:
            return x

    result = validate(FromTheSecondDim, instances=2)
    assert result.status == "vacuous"
    assert "cannot be made: aten.view" in str(result)


def test_lists_hold_other_dtypes_other_sizes_and_empty_vectors() -> None:
    lists = [
        Choices(seed, torch.float32, torch.device("cpu")).tensors("cat", "tensors", [])
        for seed in range(200)
    ]
    assert any(len({one.dtype for one in types}) > 1 for types in lists)
    assert any(len({one.shape for one in types}) > 1 for types in lists)
    empty = [types for types in lists if any(one.shape == (0,) for one in types)]
    assert any(one.rank > 1 for types in empty for one in types)
    assert {len(types) for types in lists} == {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("cls", "args", "kwargs"),
    [
        (op_class(torch.add), (1, 2), {"alpha": 3}),
        (op_class_by_name("method.transpose"), (1, 0, 1), {}),
        (op_class_by_name("method.sum"), (1,), {"dim": 0, "keepdim": True}),
    ],
)
def test_calls_are_made_as_they_were_bound(cls: Any, args: Any, kwargs: Any) -> None:
    bound = bind_call(cls, args, kwargs, lambda item: False)
    again = bind_call(cls, *call_arguments(cls, bound), lambda item: False)
    assert again == bound


def test_the_wrong_first_of_the_seams_is_violated() -> None:
    from tests.transforms.proving import wrong_lists

    assert xductor.validate(wrong_lists.FirstOfSeams).status == "violated"
