"""Every metadata key of captured graphs has a class that says what a rewrite does with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
import torch.fx as fx
from torch.fx.proxy import _COPY_META_FIELDS

from xductor.frontend import from_fx
from xductor.ir import TorchOp, entry_graph
from xductor.ir.dialect.metadata import (
    MetadataClass,
    metadata_class,
    place_metadata,
    textual_metadata,
    user_location,
)


class Block(torch.nn.Module):
    """A model whose graphs carry most metadata: checkpointing, views, mutation, an item()."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 4)
        self.register_buffer("steps", torch.zeros(()))

    def mlp(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.nn.functional.gelu(self.first(x)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        from torch.utils.checkpoint import checkpoint

        self.steps += 1
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = x + checkpoint(self.mlp, x, use_reentrant=False)
        return torch.nn.functional.dropout(x, 0.1)[x[:, 0] > 0]


@contextmanager
def recorded_stages() -> Iterator[list[tuple[str, fx.GraphModule, set[str]]]]:
    """The graphs handed to Inductor's three stages, with the keys their nodes had then."""
    import torch._inductor.compile_fx as compile_fx

    names = {
        "pre_grad_passes": "pre_grad",
        "joint_graph_passes": "joint",
        "post_grad_passes": "post_grad",
    }
    saved = {name: getattr(compile_fx, name) for name in names}
    found: list[tuple[str, fx.GraphModule, set[str]]] = []

    def recording(name: str) -> Any:
        def run(gm: fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
            module = from_fx(gm, names[name])
            assert entry_graph(module).node is not None
            found.append((names[name], gm, {key for node in gm.graph.nodes for key in node.meta}))
            return saved[name](gm, *args, **kwargs)

        return run

    for name in names:
        setattr(compile_fx, name, recording(name))
    try:
        yield found
    finally:
        for name, function in saved.items():
            setattr(compile_fx, name, function)


@pytest.fixture(scope="module")
def keys() -> dict[str, set[str]]:
    """The metadata keys of each stage's graphs of a training step with dynamic shapes."""
    from torch._inductor import config

    seen: dict[str, set[str]] = {}
    with recorded_stages() as found, config.patch(fx_graph_cache=False, force_disable_caches=True):
        model = Block()
        with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
            run = torch.compile(model, dynamic=True, backend=without_codegen)
            run(torch.randn(6, 4, requires_grad=True)).float().square().sum().backward()
    for stage, _, names in found:
        seen.setdefault(stage, set()).update(names)
    torch._dynamo.reset()
    return seen


def without_codegen(gm: fx.GraphModule, inputs: Any) -> Any:
    """Inductor up to the post-grad passes; the graphs are then interpreted."""
    from torch._inductor.compile_fx import _recursive_post_grad_passes, compile_fx, fake_tensor_prop
    from torch._inductor.virtualized import V

    def inner(inner_gm: fx.GraphModule, example_inputs: Any, **options: Any) -> Any:
        with V.set_fake_mode(fake_tensor_prop(inner_gm, example_inputs)):
            _recursive_post_grad_passes(inner_gm, is_inference=options.get("is_inference", False))

        def run(arguments: list[Any]) -> Any:
            given = list(arguments)
            arguments.clear()
            return fx.Interpreter(inner_gm).run(*given)

        run._boxed_call = True  # type: ignore[attr-defined]
        return run

    return compile_fx(gm, inputs, inner_compile=inner)


def test_every_key_of_captured_graphs_is_known(keys: dict[str, set[str]]) -> None:
    assert set(keys) == {"pre_grad", "joint", "post_grad"}
    unknown = {
        stage: sorted(key for key in names if metadata_class(key) is None)
        for stage, names in keys.items()
    }
    assert not any(unknown.values()), (
        f"add these keys to the table in ir/dialect/metadata.py: {unknown}"
    )


def test_the_model_shows_all_classes(keys: dict[str, set[str]]) -> None:
    seen = {metadata_class(key) for names in keys.values() for key in names}
    # No call of the model is of a kind for which torch records arguments; modules are no nodes.
    assert seen >= set(MetadataClass) - {MetadataClass.ARGUMENTS, MetadataClass.MODULE}


def test_the_fields_fx_copies_are_of_the_place() -> None:
    assert {key: metadata_class(key) for key in _COPY_META_FIELDS} == dict.fromkeys(
        _COPY_META_FIELDS, MetadataClass.PLACE
    )


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("val", MetadataClass.VALUE),
        ("unbacked_bindings", MetadataClass.VALUE),
        ("eager_input_vals", MetadataClass.ARGUMENTS),
        ("call_id", MetadataClass.ARGUMENTS),
        ("should_fallback", MetadataClass.CALL),
        ("mutation_region_id", MetadataClass.ORDER),
        ("stack_trace", MetadataClass.PLACE),
        ("user_visible_output_idxs", MetadataClass.GRAPH),
        ("a key of a plugin", None),
    ],
)
def test_class_of_a_key(key: str, expected: MetadataClass | None) -> None:
    assert metadata_class(key) is expected


def test_metadata_that_text_carries(build: Any, lower: Any) -> None:
    from torch.utils.checkpoint import CheckpointPolicy

    x = build.tensor("x", 2)
    node = build.call(torch.ops.aten.neg.default, x)
    node.meta.update(
        stack_trace='  File "/a/model.py", line 3, in f\n  File "/a/b \\"c\\".py", line 12, in g\n',
        nn_module_stack={
            "L['self']": ("L['self']", torch.nn.Module),
            "x": ("L['self'].layer[0]", torch.nn.Linear),
        },
        partitioner_tag="is_backward",
        recompute=CheckpointPolicy.PREFER_RECOMPUTE,
    )
    module, text = lower(build.module((node,)))
    op = next(op for op in entry_graph(module).block.ops if isinstance(op, TorchOp))
    assert op.node.location() == user_location(node.meta["stack_trace"])
    assert op.node.text_items() == {
        "module": "L['self'].layer[0]", "tag": "is_backward", "recompute": "PREFER_RECOMPUTE",
    }  # fmt: skip
    assert 'tag = "is_backward"' in text
    assert textual_metadata({}) == {}


def test_a_replacement_inherits_the_place_alone() -> None:
    sources = ["source"]
    meta = {
        "val": 1,
        "eager_input_vals": (),
        "partitioner_tag": "is_backward",
        "from_node": sources,
        "custom": {"call_id": 7, "stream": 1},
    }
    place = place_metadata(meta)
    assert place == {
        "partitioner_tag": "is_backward",
        "from_node": ["source"],
        "custom": {"stream": 1},
    }
    assert place["from_node"] is not sources
    assert meta["custom"] == {"call_id": 7, "stream": 1}
