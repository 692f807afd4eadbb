"""The models of `frozen_models`, frozen: eager's numbers, and modules that are as they were.

Without code generation; `tests/benchmarks/frozen_figures.py` runs the generated code.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed
from torch._inductor import config

import xductor
from tests.corpus import frozen_models
from tests.corpus.capture import StageCall, passes_only, stage_calls
from tests.corpus.frozen_numbers import Distances, distance, reference
from tests.held_state import HeldState

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch._C._has_mkldnn, reason="no oneDNN"),
    pytest.mark.filterwarnings("ignore"),
]

#: What packs the weights of each model, or reads them as they are.
PACKING = {
    "bert": "mkldnn_linear_packing",
    "bert_of_128": "mkldnn_linear_packing",
    "llama_int8": "woq_lowerings",
    "llama_int4": None,
    "pt2e_transformer": "qlinear_weight_prepack",
}

OPTIONS: dict[str, Any] = {"xductor.on_error": "raise", "xductor.verify": "types"}


def _built(name: str) -> Any:
    needed = frozen_models.META[name]["needs"]
    if needed is not None:
        pytest.importorskip(needed)
    return frozen_models.build(name, layers=1)


@pytest.mark.parametrize(
    "name", [name for name in frozen_models.names() if name != "pt2e_convolutions"]
)
def test_numbers_and_state(name: str) -> None:
    model, args, kwargs = _built(name)
    state, kind = HeldState(model), frozen_models.META[name]["kind"]
    with torch.no_grad(), config.patch(freezing=True), passes_only():
        found = torch.compile(model, backend="xductor", options=OPTIONS)(*args, **kwargs)
        wanted = reference(kind, model, args, kwargs)
        eager = distance(model(*args, **kwargs), wanted)
    assert Distances(eager, eager, distance(found, wanted)).are_near(kind)
    assert state.changes() == []
    packing = PACKING.get(name, "mkldnn_convolution_packing")
    assert packing is None or xductor.last_compile().count(packing) > 0


class _Done(Exception):
    """The stages were run, and no more is wanted of the compile."""


def test_a_model_with_quantised_poolings_stays_as_it_was() -> None:
    """What Inductor's entry for poolings leaves runs in generated code alone."""
    model, args, kwargs = _built("pt2e_convolutions")
    state = HeldState(model)

    def on_result(call: StageCall) -> None:
        if call.stage == "post_grad":
            raise _Done

    with (
        torch.no_grad(),
        config.patch(freezing=True),
        passes_only(),
        stage_calls(lambda _: None, on_result),
        pytest.raises(BackendCompilerFailed) as error,
    ):
        torch.compile(model, backend="xductor", options=OPTIONS)(*args, **kwargs)
    assert isinstance(error.value.inner_exception, _Done)
    assert state.changes() == []
