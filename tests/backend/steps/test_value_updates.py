"""Values after edits of the FX graph: as true as Inductor's own updater leaves them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch
import torch.fx as fx
from torch._inductor import config as inductor_config
from torch._inductor.virtualized import V
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.node import map_arg

from xductor.backend import stages
from xductor.backend.config import settings
from xductor.backend.records import stage_records
from xductor.backend.stage_runs.stage_run import StageRun
from xductor.backend.steps import node_values, value_updates
from xductor.backend.steps.value_updates import ValueUpdater

aten = torch.ops.aten

Edit = Callable[[fx.Graph], None]


def _traced(function: Callable[..., Any], *inputs: torch.Tensor, dynamic: bool) -> fx.GraphModule:
    mode = "symbolic" if dynamic else "fake"
    return make_fx(function, tracing_mode=mode)(*inputs)


def _run(gm: fx.GraphModule) -> StageRun:
    record = stage_records.StageRecord("post_grad", "test", "inference", "structure", 0)
    return StageRun("post_grad", gm, settings.current(), record)


def _mode(gm: fx.GraphModule) -> Any:
    return next(iter(gm.graph.nodes)).meta["val"].fake_mode


def _storage(value: Any) -> int:
    return value.untyped_storage()._cdata


def _tensors(gm: fx.GraphModule) -> list[tuple[fx.Node, torch.Tensor]]:
    return [
        (node, value)
        for node in gm.graph.nodes
        if isinstance(value := node.meta.get("val"), torch.Tensor)
    ]


def _said(gm: fx.GraphModule) -> list[Any]:
    """What the values of a graph say: types, and which of them share a storage."""
    first: dict[int, str] = {}
    return [
        (
            node.name,
            value.dtype,
            str(tuple(value.shape)),
            str(value.stride()),
            str(value.storage_offset()),
            value.device,
            first.setdefault(_storage(value), node.name),
        )
        for node, value in _tensors(gm)
    ]


def _updated(gm: fx.GraphModule, edit: Edit, make: Callable[[StageRun], Any]) -> fx.GraphModule:
    """A copy of a graph after an edit, its values updated by what `make` makes before it."""
    gm = copy.deepcopy(gm)
    with V.set_fake_mode(_mode(gm)):
        updater = make(_run(gm))
        edit(gm.graph)
        updater.incremental_update()
    return gm


def _find(graph: fx.Graph, target: Any) -> fx.Node:
    return graph.find_nodes(op="call_function", target=target)[0]


def _call(graph: fx.Graph, before: fx.Node, target: Any, *args: Any, val: Any = None) -> fx.Node:
    """A new call, of which `val` is recorded, or nothing."""
    with graph.inserting_before(before):
        made = graph.call_function(target, args)
    if val is not None:
        made.meta["val"] = val
    return made


def _replace(old: fx.Node, new: fx.Node) -> None:
    old.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
    old.graph.erase_node(old)


def _program(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    hidden = torch.neg(x).permute(1, 0)
    row = hidden.select(0, 0)
    low, high = torch.split(torch.exp(hidden), 1, 0)[:2]
    return row + 1, low * 2, high.sin(), torch.mm(x, y).view(-1).cos()


def _others_value(graph: fx.Graph) -> None:
    """A copy that its author gave the value of what it copies."""
    node = _find(graph, aten.exp.default)
    (source,) = node.args
    assert isinstance(source, fx.Node)
    copied = _call(graph, node, aten.clone.default, source, val=source.meta["val"])
    node.replace_input_with(source, copied)


def _unrelated_value(graph: fx.Graph) -> None:
    """A call with the value of one that it has nothing to do with."""
    node = _find(graph, aten.neg.default)
    value = _find(graph, aten.mm.default).meta["val"]
    _replace(node, _call(graph, node, aten.abs.default, *node.args, val=value))


def _view_for_copy(graph: fx.Graph) -> None:
    node = _find(graph, aten.neg.default)
    (x,) = node.args
    assert isinstance(x, fx.Node)
    _replace(node, _call(graph, node, aten.alias.default, x, val=node.meta["val"]))


def _copy_for_view(graph: fx.Graph) -> None:
    node = _find(graph, aten.permute.default)
    made = _call(graph, node, aten.clone.default, node.args[0], val=node.meta["val"])
    laid = _call(graph, node, aten.permute.default, made, [1, 0])
    _replace(node, laid)


def _other_strides(graph: fx.Graph) -> None:
    node = _find(graph, aten.exp.default)
    (source,) = node.args
    copied = _call(graph, node, aten.clone.default, source)
    copied.kwargs = {"memory_format": torch.contiguous_format}
    node.args = (copied,)


def _other_dtype(graph: fx.Graph) -> None:
    node = _find(graph, aten.mm.default)
    view = next(iter(node.users))
    cast = _call(graph, view, torch.ops.prims.convert_element_type.default, node, torch.float64)
    view.replace_input_with(node, cast)


def _traced_replacement(graph: fx.Graph) -> None:
    """As Inductor's matcher: a new call with a value of its own."""
    node = _find(graph, aten.mm.default)
    mode = node.meta["val"].fake_mode
    with mode:
        value = node.target(*map_arg(node.args, lambda used: used.meta["val"]))  # type: ignore[operator]
    _replace(node, _call(graph, node, aten.mm.default, *node.args, val=value))


def _other_input(graph: fx.Graph) -> None:
    x, y = graph.find_nodes(op="placeholder")
    _find(graph, aten.neg.default).replace_input_with(x, y)
    _find(graph, aten.mm.default).args = (y, x)


EDITS = (
    _others_value,
    _unrelated_value,
    _view_for_copy,
    _copy_for_view,
    _other_strides,
    _other_dtype,
    _traced_replacement,
    _other_input,
)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_values_are_those_of_inductors_updater(edit: Edit, dynamic: bool) -> None:
    gm = _traced(_program, torch.randn(4, 4), torch.randn(4, 4), dynamic=dynamic)
    ours = _updated(gm, edit, ValueUpdater)
    stocks = _updated(gm, edit, node_values.updater_for)
    assert _said(ours) == _said(stocks)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_a_view_shares_with_what_it_views(edit: Edit) -> None:
    """Inductor's updater is a measure; this is what it is for."""
    gm = _traced(_program, torch.randn(4, 4), torch.randn(4, 4), dynamic=False)
    ours = _updated(gm, edit, ValueUpdater)
    with V.set_fake_mode(_mode(ours)) as _, _mode(ours):
        for node, value in _tensors(ours):
            if not isinstance(node.target, torch._ops.OpOverload):
                continue
            args, kwargs = map_arg((node.args, node.kwargs), lambda used: used.meta["val"])
            anew = node.target(*args, **kwargs)
            assert (anew.shape, anew.stride(), anew.dtype) == (
                value.shape, value.stride(), value.dtype,
            )  # fmt: skip
            for used in node.all_input_nodes:
                base = used.meta["val"]
                if isinstance(base, torch.Tensor):
                    shared = _storage(anew) == _storage(base)
                    assert (_storage(value) == _storage(base)) is shared, node


def _counting(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calls that are run under a fake mode."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    ran: list[Any] = []
    stock = FakeTensorMode.dispatch

    def dispatch(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        ran.append(func)
        return stock(self, func, *args, **kwargs)

    monkeypatch.setattr(FakeTensorMode, "dispatch", dispatch)
    return ran


def test_nothing_is_run_where_nothing_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    gm = _traced(_program, torch.randn(4, 4), torch.randn(4, 4), dynamic=False)
    with V.set_fake_mode(_mode(gm)):
        updater = ValueUpdater(_run(gm))
        ran = _counting(monkeypatch)
        assert updater.incremental_update() == 0
        _other_strides(gm.graph)
        assert updater.incremental_update() > 0
        assert ran
        ran.clear()
        assert updater.incremental_update() == 0
    assert not ran


def test_what_stands_below_a_value_like_the_old_one_is_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gm = _traced(lambda x: x.neg().sin().cos().exp(), torch.randn(3), dynamic=False)
    with V.set_fake_mode(_mode(gm)):
        updater = ValueUpdater(_run(gm))
        _find(gm.graph, aten.neg.default).target = aten.abs.default
        ran = _counting(monkeypatch)
        updater.incremental_update()
    assert ran == [aten.abs.default]


def test_subgraphs_are_left_to_inductors(monkeypatch: pytest.MonkeyPatch) -> None:
    body = _traced(lambda x: x.sin(), torch.randn(3), dynamic=False)
    gm = _traced(lambda x: x.neg(), torch.randn(3), dynamic=False)
    gm.add_submodule("body", body)
    made: list[StageRun] = []

    class Updater:
        processed_hashes: ClassVar[set[str]] = {"before", "sin"}

        def hash_node(self, node: torch.fx.Node) -> str:
            return node.name

        def incremental_update(self) -> int:
            return 7

    def updater_for(run: StageRun) -> Updater:
        made.append(run)
        return Updater()

    monkeypatch.setattr(node_values, "updater_for", updater_for)
    updater = ValueUpdater(_run(gm))
    assert updater.incremental_update() == 0
    assert not made  # nothing changed
    (sin,) = body.graph.find_nodes(op="call_function", target=aten.sin.default)
    sin.target = aten.cos.default
    assert updater.incremental_update() == 7
    assert made
    assert Updater.processed_hashes == {"before"}


@pytest.mark.parametrize("told", [True, False])
def test_symbols_that_appear_later_are_bound(told: bool) -> None:
    """A call that finds a size anew, whether its author says so or not."""
    gm = _traced(lambda x: x.neg(), torch.randn(3), dynamic=True)
    with V.set_fake_mode(_mode(gm)):
        updater = ValueUpdater(_run(gm))
        node = _find(gm.graph, aten.neg.default)
        found = _call(gm.graph, node, aten.nonzero.default, *node.args)
        if told:
            with _mode(gm):
                found.meta["val"] = aten.nonzero.default(found.args[0].meta["val"])  # type: ignore[union-attr]
            found.meta["unbacked_bindings"] = {}
        node.args = (found,)
        updater.incremental_update()
    assert str(node.meta["val"].shape[0]) == str(found.meta["val"].shape[0])
    assert found.meta["unbacked_bindings"]


def test_nothing_is_remembered_unless_a_step_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typed passes leave values that are true, so that there is nothing to follow up."""
    made: list[Any] = []
    updater = value_updates.ValueUpdater

    def told(run: StageRun) -> Any:
        made.append(run)
        return updater(run)

    monkeypatch.setattr(value_updates, "ValueUpdater", told)
    gm = _traced(lambda x: (x.sin().view(3).clone().cos(),), torch.randn(3), dynamic=False)
    stages.post_grad_passes(gm, True)
    assert not made
    hooked = _traced(lambda x: (x.sin().cos(),), torch.randn(3), dynamic=False)
    with inductor_config.patch(post_grad_custom_pre_pass=lambda graph: None):
        stages.post_grad_passes(hooked, True)
    assert made
