"""Random frozen models compute what eager does, with weights packed and all fusions made."""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest
import torch

from tests.transforms.onednn.random_packed_models import RandomModel, lowered, packed
from xductor.backend.fx.export import to_fx

pytestmark = pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN")

#: `XDUCTOR_RANDOM=3000` tries as many.
GRAPHS = int(os.environ.get("XDUCTOR_RANDOM", "40"))


def test_random_models() -> None:
    fired: Counter[str] = Counter()
    for seed in range(GRAPHS):
        rng = Random(seed)
        torch.manual_seed(seed)
        model = RandomModel(rng)
        x = model.input(rng)
        module = lowered(model, x)
        policy = rng.choice(("default", "fast"))
        fired.update(packed(module, policy, with_mkl=rng.random() < 0.3))
        expected, given = model(x), x.clone()
        found = to_fx(module)(given)
        try:
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        assert torch.equal(given, x)
    rare = {"mkldnn_linear_bias"}
    assert all(count for name, count in fired.items() if name not in rare), fired
