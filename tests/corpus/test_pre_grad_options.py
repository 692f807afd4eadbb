"""Models with every option of the stage before autograd on, forward and backward as eager."""

from __future__ import annotations

from typing import Any

import pytest

from tests.benchmarks.pre_grad_options import options, run
from tests.corpus import models

#: A recommendation, an attention and a convolutional model, and passes that each must apply.
EXPECTED: dict[str, set[str]] = {
    "recommender": {"split_cat_pass", "batch_linear", "batch_tanh"},
    "attention": {"fuse_attention"},
    "convolutions": {"efficient_conv_bn_eval_pass"},
}


RUNS = [
    ("recommender", False, False),
    ("recommender", True, False),
    ("attention", False, True),
    ("convolutions", False, False),
]


@pytest.mark.parametrize(("name", "dynamic", "pre_dispatch"), RUNS)
def test_nobody_can_tell(name: str, dynamic: bool, pre_dispatch: bool) -> None:
    """`python -m tests.benchmarks.pre_grad_options` runs more of them."""
    model, inputs, named = models.build(name)
    flags: dict[str, Any] = options() | {"is_predispatch": pre_dispatch}
    applied = run(model, inputs, named, dynamic=dynamic, flags=flags)
    assert EXPECTED[name] <= applied.keys(), applied
