"""Graphs for the passes that bring writes back: random functional ones with an epilogue.

As AOTAutograd hands them to the post-grad stage: new contents of inputs and of other tensors, by
all the ops that may become writes, and copies of some of them into inputs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.backend.pass_validation.specimen import Specimen
from xductor.ir import (
    GraphOp,
    ListArg,
    OutputOp,
    Ref,
    TensorType,
    entry_graph,
    op_class_by_name,
    parse_ir,
)
from xductor.ir.dialect.arguments import FunctionArg
from xductor.ir.dialect.graph import raw_args
from xductor.ir.dialect.results import flat_structure
from xductor.ir.dialect.types import TensorFields
from xductor.transforms.editing.editor import Editor, raw_call_args
from xductor.transforms.in_place.decompose_auto_functionalized import DecomposeAutoFunctionalized
from xductor.transforms.in_place.reinplace_inplaceable_ops import ReinplaceInplaceableOps

_SKELETON = """
fx.graph @forward stage(post_grad) (%x : !fx.tensor<f32[4, 4], cpu>,
    %y : !fx.tensor<f32[4, 4], cpu>, %z : !fx.tensor<f32[2, 4], cpu>,
    %i : !fx.tensor<i64[2], cpu>) {
  fx.output (%x,)
}
"""


@torch.library.custom_op("xductor_validation::scale_two", mutates_args=("a", "b"))
def scale_two(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """Writes to two tensors, and reads a third."""
    total = c.sum()
    a.mul_(2).add_(total)
    b.sub_(total)
    return total + 1


@scale_two.register_fake
def _(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return c.new_empty(())


class Grower:
    """Appends calls to a graph; values are kept by their shape."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.module: ModuleOp = parse_ir(_SKELETON)
        self.graph: GraphOp = entry_graph(self.module)
        self.editor = Editor(self.graph)
        self.inputs = list(self.graph.block.args[:3])
        self.values: list[SSAValue] = list(self.inputs)
        self.index = self.graph.block.args[3]
        self.backs: dict[SSAValue, SSAValue] = {}
        """For some inputs what is copied back into them: a new content of theirs."""

    def call(self, name: str, *arguments: Any) -> SSAValue:
        made = self.editor.call(name, arguments, above=self.graph.output, placed=False)
        self.values.append(made.results[0])
        return made.results[0]

    def target(self) -> SSAValue:
        """What to give another content: an input as it is by now, or any value."""
        if self.chance.random() < 0.4:
            given = self.chance.choice(self.inputs[:2])
            return self.backs.get(given, given)
        return self.pick((4, 4))

    def brings(self, target: SSAValue, content: SSAValue) -> None:
        """Note a new content: if it is one of an input, mostly to be copied back."""
        for given in self.inputs:
            if target in (given, self.backs.get(given)) and self.chance.random() < 0.9:
                self.backs[given] = content

    def pick(self, *shapes: tuple[int, ...]) -> SSAValue:
        """One of the last values, more often than not."""
        fitting = [one for one in self.values if not shapes or _shape(one) in shapes]
        return self.chance.choice(fitting[-4:] if self.chance.random() < 0.6 else fitting)


_SCALAR = TensorType(TensorFields(torch.float32, (), (), torch.device("cpu"), 0, (), "strided", ""))


def _shape(value: SSAValue) -> tuple[int, ...]:
    type_: Any = value.type
    return tuple(type_.shape)


def pointwise(g: Grower) -> None:
    name = g.chance.choice(("aten.sin.default", "aten.neg.default", "aten.clone.default"))
    value = g.pick()
    g.call(name, value, None) if "clone" in name else g.call(name, value)


def binary(g: Grower) -> None:
    a = g.pick()
    g.call("aten.add.Tensor", a, g.pick(_shape(a)), 1)


def reduce(g: Grower) -> None:
    a = g.pick()
    total = g.editor.call(
        "aten.sum.dim_IntList", [a, ListArg((0,)), True, None], above=g.graph.output, placed=False
    )
    g.call("aten.mul.Tensor", a, total.results[0])


def view(g: Grower) -> None:
    a = g.pick((4, 4))
    kind = g.chance.randrange(5)
    if kind == 0:
        start = g.chance.choice((0, 1, 2))
        g.call("aten.slice.Tensor", a, g.chance.randrange(2), start, start + 2, 1)
    elif kind == 1:
        g.call("aten.permute.default", a, ListArg((1, 0)))
    elif kind == 2:
        g.call("prims.rev.default", a, ListArg((0,)))
    elif kind == 3:
        g.call("aten.alias.default", a)
    else:
        flat = g.editor.call(
            "aten.reshape.default", [a, ListArg((16,))], above=g.graph.output, placed=False
        )
        g.call("aten.reshape.default", flat.results[0], ListArg((4, 4)))


def index_put(g: Grower) -> None:
    target = g.target()
    values = g.pick((2, 4))
    made = g.call(
        "aten.index_put.default", target, ListArg((g.index,)), values, g.chance.random() < 0.3
    )
    g.brings(target, made)


def slice_scatter(g: Grower) -> None:
    target = g.target()
    start = g.chance.choice((0, 1, 2))
    source = g.pick((2, 4))
    if g.chance.random() < 0.5:  # in the form that functionalisation gives
        part = g.call("aten.slice.Tensor", target, 0, start, start + 2, 1)
        source = g.call("aten.add.Tensor", part, source, 1)
    made = g.call("aten.slice_scatter.default", target, source, 0, start, start + 2, 1)
    g.brings(target, made)


def nested_scatter(g: Grower) -> None:
    target = g.target()
    start = g.chance.choice((0, 1, 2))
    part = g.call("aten.slice.Tensor", target, 0, start, start + 2, 1)
    row = g.call("aten.select.int", g.pick((2, 4)), 0, 1)
    inner = g.call("aten.select_scatter.default", part, row, 0, 1)
    again = start if g.chance.random() < 0.8 else (start + 1) % 3
    made = g.call("aten.slice_scatter.default", target, inner, 0, again, again + 2, 1)
    g.brings(target, made)


def shifted_scatter(g: Grower) -> None:
    target = g.target()
    part = g.call("aten.slice.Tensor", target, 0, 0, 2, 1)
    made = g.call("aten.slice_scatter.default", target, part, 0, 1, 3, 1)
    g.brings(target, made)


def diagonal_scatter(g: Grower) -> None:
    target = g.target()
    source = g.call("aten.diagonal.default", g.pick((4, 4)), 0, 0, 1)
    made = g.call("aten.diagonal_scatter.default", target, source, 0, 0, 1)
    g.brings(target, made)


def strided_scatter(g: Grower) -> None:
    target = g.target()
    sizes = ListArg((2, 4)), ListArg((8, 1)), g.chance.choice((0, 4))
    made = g.call("aten.as_strided_scatter.default", target, g.pick((2, 4)), *sizes)
    g.brings(target, made)


def foreach(g: Grower) -> None:
    tensors = [g.target(), g.target()]
    arguments = [ListArg(tensors), 2.0]
    made = g.editor.call("aten._foreach_mul.Scalar", arguments, above=g.graph.output, placed=False)
    g.values += list(made.results)
    for target, result in zip(tensors, made.results, strict=True):
        g.brings(target, result)


def functionalized(g: Grower) -> None:
    """A call of an operator that writes to two tensors, in one of the two functional forms."""
    a, b, c = g.target(), g.pick((4, 4), (2, 4)), g.pick()
    function = FunctionArg("torch.ops.xductor_validation.scale_two.default")
    total = _SCALAR
    if g.chance.random() < 0.5:
        name, keywords = "higher_order.auto_functionalized", {"a": a, "b": b, "c": c}
        bases = [a, b]
    else:
        name = "higher_order.auto_functionalized_v2"
        bases = [a] if a is b else [a, b]
        keywords = {"c": c}
        form = g.chance.randrange(3)
        keywords |= {"_a_base_index": 0}
        if form == 1:
            keywords |= {"_a_slice_dim": 0, "_a_slice_start": 1, "_a_slice_end": 3}
        elif form == 2:
            keywords |= {
                "_a_size": ListArg((2, 4)),
                "_a_stride": ListArg((4, 1)),
                "_a_storage_offset": 4,
            }
        keywords |= {"_b_base_index": len(bases) - 1, "_all_bases": ListArg(bases)}
    args, operands = raw_call_args([function], keywords)
    cls: Any = op_class_by_name(name)
    types = [total, *(base.type for base in bases)]
    made = cls.make(args, operands, types, structure=flat_structure(len(types)))
    g.editor.insert(made, g.graph.output)
    g.values += list(made.results[1:])
    g.brings(bases[0], made.results[1])
    g.call("aten.add.Tensor", g.pick(), made.results[0], 1)


SEEDS = 160

STEPS: tuple[Callable[[Grower], None], ...] = (
    pointwise,
    binary,
    reduce,
    view,
    view,
    index_put,
    index_put,
    slice_scatter,
    slice_scatter,
    nested_scatter,
    shifted_scatter,
    diagonal_scatter,
    strided_scatter,
    foreach,
    functionalized,
    functionalized,
)


def random_graph(seed: int, calls: bool = True) -> ModuleOp:
    """Some steps over three inputs; copies back into some of them; up to three results.

    - `calls`: functionalised calls of an operator may be among them.
    """
    steps = STEPS if calls else [step for step in STEPS if step is not functionalized]
    g = Grower(random.Random(seed))
    with g.editor:
        for _ in range(g.chance.randint(2, 7)):
            g.chance.choice(steps)(g)
        made = g.values[3:]
        for target in g.inputs:
            fitting = [one for one in made if _shape(one) == _shape(target)]
            chances = (1, 1, 1, 2) if target in g.backs else (0, 0, 1, 1, 2)
            for number in range(g.chance.choice(chances)):
                if fitting:
                    chosen = g.chance.choice(fitting[-3:])
                    if number == 0:
                        chosen = g.backs.get(target, chosen)
                    g.editor.call(
                        "aten.copy_.default",
                        [target, chosen, False],
                        above=g.graph.output,
                        placed=False,
                    )
                    if g.chance.random() < 0.15:  # after the epilogue, as regenerated views are
                        g.call("aten.select.int", chosen, 0, 0)
    returned = g.chance.sample(made, min(len(made), g.chance.randint(1, 3)))
    _return(g.graph, returned)
    return g.module


def _return(graph: GraphOp, values: list[SSAValue]) -> None:
    output = graph.output
    refs = tuple([Ref(place) for place in range(len(values))])
    made = OutputOp.make(raw_args((refs,), ()), values, [])
    graph.block.insert_op_before(made, output)
    graph.block.erase_op(output)


def reinplaced() -> Iterator[Specimen]:
    """Graphs without functionalised calls, of which it is only said what they are to copy."""
    for seed in range(SEEDS):
        yield Specimen(f"graph {seed}", random_graph(seed, calls=False), ReinplaceInplaceableOps())


def decomposed() -> Iterator[Specimen]:
    """Each graph with what the calls are to copy; compared as it was before that was said."""
    for seed in range(SEEDS):
        module = random_graph(seed)
        given = module.clone()
        ReinplaceInplaceableOps().rewrite(given)
        yield Specimen(f"graph {seed}", module, DecomposeAutoFunctionalized(), given=given)


__all__ = ["decomposed", "random_graph", "reinplaced"]
