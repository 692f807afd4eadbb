"""What torch-level calls mean, and how a call of an operator is written before autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from tests.before_autograd.captured import captured
from xductor.ir import entry_graph
from xductor.ir.functions.torch_calls import aten_call

x = torch.randn(4, 6)
y = torch.randn(4, 6)
_PLAIN = {"non_blocking": False, "copy": False}


def meant(function: Callable[..., Any], *args: Any) -> list[tuple[str, dict[str, Any]]]:
    """Name and constants of what each call of a function's graph means; "" for no operator."""
    found: list[tuple[str, dict[str, Any]]] = []
    for op in list(entry_graph(captured(function, *args)).block.ops)[:-1]:
        call = aten_call(op)
        if call is None:
            found.append(("", {}))
        else:
            constants = {
                name: item
                for name, item in call.arguments.items()
                if isinstance(item, int | float | str | torch.dtype)
            }
            found.append((call.name, constants))
    return found


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: torch.cat([x, y], -1),
        lambda x, y: torch.cat((x, y), dim=-1),
        lambda x, y: torch.cat(tensors=[x, y], axis=-1),
        lambda x, y: torch.concat([x, y], axis=-1),
        lambda x, y: torch.concatenate([x, y], dim=-1),
        lambda x, y: torch.ops.aten.cat([x, y], -1),
        lambda x, y: torch.ops.aten.cat.default([x, y], -1),
    ],
)
def test_spellings_of_cat(function: Any) -> None:
    assert meant(function, x, y) == [("aten.cat.default", {"dim": -1})]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sum(1, True),
        lambda x: torch.sum(x, dim=1, keepdim=True),
        lambda x: torch.sum(input=x, axis=1, keepdims=True),
        lambda x: x.sum(axis=1, keepdims=True),
    ],
)
def test_spellings_of_sum(function: Any) -> None:
    ((name, constants),) = meant(function, x)
    assert name == "aten.sum.dim_IntList"
    assert constants["keepdim"] is True


@pytest.mark.parametrize(
    ("function", "name", "constants"),
    [
        (lambda x: x.split(2, -1), "aten.split.Tensor", {"split_size": 2, "dim": -1}),
        (lambda x: torch.split(x, [2, 4], 1), "aten.split_with_sizes.default", {"dim": 1}),
        (lambda x: x.split([2, 4], dim=1), "aten.split_with_sizes.default", {"dim": 1}),
        (lambda x: torch.chunk(x, 3, dim=1), "aten.chunk.default", {"chunks": 3, "dim": 1}),
        (lambda x: x[1], "aten.select.int", {"dim": 0, "index": 1}),
        (lambda x: x[:, -1], "aten.select.int", {"dim": 1, "index": -1}),
        (lambda x: x[..., -1], "aten.select.int", {"dim": 1, "index": -1}),
        (lambda x: x[:, 1:3], "aten.slice.Tensor", {"dim": 1, "start": 1, "end": 3, "step": 1}),
        (lambda x: x[None], "aten.unsqueeze.default", {"dim": 0}),
        (lambda x: x[..., None], "aten.unsqueeze.default", {"dim": 2}),
        (lambda x: x.view(3, -1), "aten.view.default", {}),
        (lambda x: x.permute(1, 0), "aten.permute.default", {}),
        (lambda x: x.permute((1, 0)), "aten.permute.default", {}),
        (lambda x: torch.swapaxes(x, axis0=0, axis1=1), "aten.transpose.int",
         {"dim0": 0, "dim1": 1}),
        (lambda x: x.T.relu(), "aten.numpy_T.default", {}),
        (lambda x: torch.hstack([x, x]), "aten.cat.default", {"dim": 1}),
        (lambda x: torch.column_stack((x, x)), "aten.cat.default", {"dim": 1}),
        (lambda x: torch.vstack(tensors=[x, x]), "aten.cat.default", {"dim": 0}),
        (lambda x: torch.row_stack([x, x]), "aten.cat.default", {"dim": 0}),
        (lambda x: torch.dstack([x, x]), "aten.stack.default", {"dim": 2}),
        (lambda x: x.to("cpu"), "aten.to.dtype_layout", _PLAIN),
        (lambda x: x.cpu(), "aten.to.dtype_layout", _PLAIN),
        (lambda x: x.to("cpu", torch.half), "aten.to.device", {"dtype": torch.half, **_PLAIN}),
        (lambda x: x.type(torch.float16), "aten.to.dtype", {"dtype": torch.float16, **_PLAIN}),
        (lambda x: torch.special.expit(x), "aten.sigmoid.default", {}),
        (lambda x: torch.special.softmax(x, -1), "aten.softmax.int", {"dim": -1}),
        (lambda x: torch.special.log_softmax(x, dim=1), "aten.log_softmax.int", {"dim": 1}),
        (lambda x: F.relu(x), "aten.relu.default", {}),
        (lambda x: x.relu(), "aten.relu.default", {}),
        (lambda x: x.relu_(), "aten.relu_.default", {}),
        (lambda x: x + 1, "aten.add.Tensor", {"other": 1, "alpha": 1}),
        (lambda x: torch.add(x, 1, alpha=2), "aten.add.Tensor", {"other": 1, "alpha": 2}),
        (lambda x: 1 - x, "aten.rsub.Scalar", {"other": 1, "alpha": 1}),
        (lambda x: 2 * x, "aten.mul.Tensor", {"other": 2}),
        (lambda x: x / 2, "aten.div.Tensor", {"other": 2}),
        (lambda x: x**2, "aten.pow.Tensor_Scalar", {"exponent": 2}),
        (lambda x: torch.clip(x, 0), "aten.clamp.default", {"min": 0}),
        (lambda x: F.softmax(x, dim=-1), "aten.softmax.int", {"dim": -1}),
        (lambda x: F.dropout(x, 0.5, training=False), "aten.dropout.default",
         {"p": 0.5, "train": False}),
        (lambda x: x.half(), "aten.to.dtype",
         {"dtype": torch.float16, "non_blocking": False, "copy": False}),
        (lambda x: torch.einsum("ij->ji", x), "aten.einsum.default", {"equation": "ij->ji"}),
    ],
)  # fmt: skip
def test_what_a_call_means(function: Any, name: str, constants: dict[str, Any]) -> None:
    assert meant(function, x)[0] == (name, constants)


def test_vectors_beside_each_other() -> None:
    assert meant(lambda x: torch.hstack([x, x]), x[0]) == [("aten.cat.default", {"dim": 0})]
    for function, dim in ((torch.vstack, 0), (torch.row_stack, 0), (torch.column_stack, 1)):
        found = meant(lambda x, f=function: f([x, x]), x[0])
        assert found == [("aten.stack.default", {"dim": dim})]  # each gets a dim


def test_what_gets_two_dims_is_no_stack() -> None:
    assert meant(lambda x: torch.dstack([x, x]), x[0]) == [("aten.dstack.default", {})]
    assert meant(lambda x, y: torch.vstack([x, y]), x, x[0]) == [("aten.vstack.default", {})]


def test_what_has_a_third_dim_is_put_together_along_it() -> None:
    assert meant(lambda x: torch.dstack([x, x]), x[None]) == [("aten.cat.default", {"dim": 2})]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.relu(x, inplace=True),
        lambda x: torch.add(x, x, out=torch.empty(4, 6)),
        lambda x: x[0, 1:3],
        lambda x: 1 / x,
        lambda x: F.softmax(x),
        lambda x: torch.norm(x),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_means_no_functional_operator(function: Any) -> None:
    assert meant(function, x)[-1][0] in ("", "aten.add.out")
