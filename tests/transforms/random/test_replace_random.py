"""`replace_random` and its kin on typed IR: what they draw, and the check that it stays so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch

from xductor.ir import ArgsAttr, Ref, SchemaOp, entry_graph, verify
from xductor.transforms.editing.editor import Editor
from xductor.transforms.random.fuse_seed_creation_pass import (
    FuseOffsetCreationPass,
    FuseSeedCreationPass,
)
from xductor.transforms.random.random_draws import DrawsChanged, draws_of
from xductor.transforms.random.replace_random import ReplaceRandint, ReplaceRandom


def _graph(*lines: str, arguments: str = "", symbols: str = "", output: str = "none") -> str:
    body = "\n    ".join(lines)
    return f"""builtin.module {{
  fx.graph @g stage(joint) symbols({symbols}) ({arguments}) {{
    {body}
    fx.output [{output}]
  }}
}}"""


def _rand(name: str, device: str = "cpu", dtype: str = "f32", kind: str = "rand") -> str:
    option = "" if dtype == "f32" else f", dtype = {dtype}"
    return (
        f"%{name} = aten.{kind}.default [4]{option}, device = device<{device}>"
        f" : !fx.tensor<{dtype}[4], {device}>"
    )


def _run_all(case: Any) -> list[int]:
    return [case.run(one) for one in (ReplaceRandom(), ReplaceRandint(), FuseSeedCreationPass())]


def test_seeds_by_device(parse: Any) -> None:
    """The devices take turns; each has one tensor of seeds, where its first one was."""
    case = parse(
        _graph(
            _rand("a"),
            _rand("b", "cuda:0", kind="randn"),
            _rand("c", dtype="f64"),
            _rand("d", "cuda:0"),
            output="%a, %b, %c, %d",
        )
    )
    before = draws_of(entry_graph(case.module))
    assert [draw.kind for draw in before] == ["rand", "randn", "rand", "rand"]
    assert _run_all(case) == [4, 0, 2]
    verify(case.module, "stage")
    assert draws_of(entry_graph(case.module)) == before
    assert case.ops == [
        "prims.inductor_seeds.default",
        "prims.inductor_lookup_seed.default",
        "prims.inductor_random.default",
        "prims.inductor_seeds.default",
        "prims.inductor_lookup_seed.default",
        "prims.inductor_random.default",
        "prims.inductor_lookup_seed.default",
        "prims.inductor_random.default",
        "prims.convert_element_type.default",
        "prims.inductor_lookup_seed.default",
        "prims.inductor_random.default",
    ]
    assert case.text.count("inductor_seeds.default 2, device<cuda:0>") == 1


def test_the_place_is_kept_but_for_the_seeds(parse: Any) -> None:
    """A block that is recomputed must not draw its seeds again."""
    place = ' {node = "a", tag = "is_forward", recompute = "MUST_RECOMPUTE"}'
    case = parse(_graph(_rand("a") + place, output="%a"))
    _run_all(case)
    seeds, *others = list(entry_graph(case.module).block.ops)[:-1]
    assert not seeds.node.text_items()  # type: ignore[attr-defined]
    for op in others:
        assert op.node.text_items()["recompute"] == "MUST_RECOMPUTE"  # type: ignore[attr-defined]
        assert op.node.text_items()["tag"] == "is_forward"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "line",
    [
        "%a = aten.rand.default [4], dtype = complex<f32>, device = device<cpu>"
        " : !fx.tensor<complex<f32>[4], cpu>",
        "%a = aten.rand.default [4], device = device<cpu>, pin_memory = true"
        " : !fx.tensor<f32[4], cpu>",
        '%a = aten.rand.generator [4], generator = opaque<generator, "1">, device = device<cpu>'
        " : !fx.tensor<f32[4], cpu>",
        "%a = aten.rand.default [4], device = device<meta> : !fx.tensor<f32[4], meta>",
        "%a = aten.randint.low 2, 5, [4], device = device<cpu>, pin_memory = true"
        " : !fx.tensor<i64[4], cpu>",
    ],
    ids=["complex", "pinned", "generator", "meta", "pinned_integers"],
)
def test_left_to_pytorch(line: str, parse: Any) -> None:
    case = parse(_graph(line, output="%a"))
    assert _run_all(case) == [0, 0, 0]


def test_integers(parse: Any) -> None:
    case = parse(
        _graph(
            "%a = aten.randint.low 2, %s, [4, %s], dtype = i32, device = device<cpu>"
            " : !fx.tensor<i32[4, s0], cpu>",
            arguments="%s : !fx.symint<s0>",
            symbols="s0 : int positive [3, int_oo] hint 16",
            output="%a",
        )
    )
    before = draws_of(entry_graph(case.module))
    assert before[0].details[0] == 2
    assert _run_all(case) == [0, 1, 1]
    verify(case.module, "types")
    assert draws_of(entry_graph(case.module)) == before


# What the check refuses.


@dataclass(frozen=True)
class _Wrong(ReplaceRandom):
    """Replaces as it should, then spoils one thing."""

    name = "wrong"

    spoils: str = ""

    def redraw(self, editor: Editor) -> int:
        replaced = super().redraw(editor)
        graph = editor.graph
        random = [op for op in graph.block.ops if op.name == "prims.inductor_random.default"]
        first, second = [op for op in random if isinstance(op, SchemaOp)]
        if self.spoils == "same seed":
            second.operands[0] = first.operands[0]
        elif self.spoils == "dropped":
            second.results[0].replace_all_uses_with(first.results[0])
            graph.block.erase_op(second)
        elif self.spoils == "order":
            first.detach()
            graph.block.insert_op_after(first, second)
        elif self.spoils == "distribution":
            first.args = ArgsAttr((first.args.data[0], Ref(0), "randn", None))
        else:
            assert self.spoils == "another"
            graph.block.insert_op_before(second.clone(), second)
        return replaced


@pytest.mark.parametrize(
    ("spoils", "message"),
    [
        ("same seed", r"random draw 1: expected randn\[4\] .*source 1, found .*source 0"),
        ("dropped", "2 random draws have become 1"),
        ("order", r"random draw 0: expected rand\[4\] .*, found randn\[4\]"),
        ("distribution", r"random draw 0: expected rand\[4\] .*, found randn\[4\]"),
        ("another", "2 random draws have become 3"),
    ],
)
def test_changed_draws_are_refused(spoils: str, message: str, parse: Any) -> None:
    case = parse(_graph(_rand("a"), _rand("b", kind="randn"), output="%a, %b"))
    with pytest.raises(DrawsChanged, match=f"wrong: {message}"):
        _Wrong(spoils=spoils).rewrite(case.module)


def test_a_seed_that_is_not_there(parse: Any) -> None:
    seeds = "%s = prims.inductor_seeds.default 1, device<cpu> : !fx.tensor<i64[1], cpu>"
    seed = "%t = prims.inductor_lookup_seed.default %s, 1 : !fx.tensor<i64[], cpu>"
    draw = 'prims.inductor_random.default [4], %t, "rand" : !fx.tensor<f32[4], cpu>'
    case = parse(_graph(seeds, seed, f"%a = {draw}", output="%a"))
    with pytest.raises(DrawsChanged, match="reads seed 1 of 1"):
        draws_of(entry_graph(case.module))


# Numbers as in eager, on CUDA.


class _Properties:
    multi_processor_count = 108
    max_threads_per_multi_processor = 2048


@pytest.fixture
def properties(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: _Properties())


def _offset_of_stock(count: int) -> int:
    from torch._inductor.fx_passes.replace_random import _shape_to_offset

    return int(_shape_to_offset([count], torch.device("cuda")))


def _big(name: str, size: Any, device: str = "cuda:0") -> str:
    return (
        f"%{name} = aten.rand.default [{size}], device = device<{device}>"
        f" : !fx.tensor<f32[{str(size).replace('%', '')}], {device}>"
    )


@pytest.mark.parametrize("count", [0, 1, 256, 257, 1 << 20, (1 << 20) + 1, 10**9])
def test_offsets_are_those_of_eager(count: int, properties: None, parse: Any) -> None:
    case = parse(_graph(_big("a", count), _big("b", 7), output="%a, %b"))
    assert case.run(ReplaceRandom(align_random_eager=True)) == 2
    assert case.run(FuseSeedCreationPass()) == 0
    assert case.run(FuseOffsetCreationPass()) == 1
    assert case.ops == [
        "prims.inductor_rand_eager_offsets.default",
        "aten.select.int",
        "prims.inductor_random.default",
        "aten.select.int",
        "prims.inductor_random.default",
    ]
    (offsets, *_) = entry_graph(case.module).block.ops
    listed = offsets.argument("offsets")  # type: ignore[attr-defined]
    assert list(listed) == [_offset_of_stock(count), 4]


def test_cpu_and_normal_numbers_are_not_aligned(properties: None, parse: Any) -> None:
    case = parse(_graph(_rand("a"), _rand("b", "cuda:0", kind="randn"), output="%a, %b"))
    assert case.run(ReplaceRandom(align_random_eager=True)) == 2
    assert case.run(FuseOffsetCreationPass()) == 0
    assert case.run(FuseSeedCreationPass()) == 2


def test_offsets_of_sizes_that_are_not_known(properties: None, parse: Any) -> None:
    """The second size is computed below the first draw, from an input: it moves up."""
    case = parse(
        _graph(
            _big("a", 7),
            "%t = aten.sym_size.int %x, 0 : !fx.symint<s0>",
            _big("b", "%t").replace("f32[t]", "f32[s0]"),
            arguments="%x : !fx.tensor<f32[s0], cuda:0>",
            symbols="s0 : int positive [2, int_oo] hint 16",
            output="%a, %b",
        )
    )
    assert case.run(ReplaceRandom(align_random_eager=True)) == 2
    assert case.run(FuseOffsetCreationPass()) == 1
    ops = case.ops
    place = ops.index("prims.inductor_rand_eager_offsets.default")
    assert all("inductor" not in name and "select" not in name for name in ops[:place])
    assert "pyfn.torch.sym_min" in ops[:place]
    verify(case.module, "structure")


def test_a_size_read_from_a_tensor_begins_another_list(properties: None, parse: Any) -> None:
    case = parse(
        _graph(
            _big("a", 7),
            "%n = aten.nonzero.default %x : !fx.tensor<i64[u0, 1], cuda:0>"
            ' {unbacked_bindings = "u0 = .size()[0]"}',
            "%t = aten.sym_size.int %n, 0 : !fx.symint<u0>",
            _big("b", "%t").replace("f32[t]", "f32[u0]"),
            _big("c", 9),
            arguments="%x : !fx.tensor<f32[16], cuda:0>",
            symbols="u0 : int unbacked [0, 16]",
            output="%a, %b, %c",
        )
    )
    assert case.run(ReplaceRandom(align_random_eager=True)) == 3
    assert case.run(FuseOffsetCreationPass()) == 2
    verify(case.module, "structure")
