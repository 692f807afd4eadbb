"""The pass registry tells the truth about the installed torch and about our own classes."""

from __future__ import annotations

import ast
import re
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._inductor.fx_passes import group_batch_fusion, pre_grad, split_cat

from xductor.backend.pipelines import freezing, joint_graph, post_grad
from xductor.backend.pipelines import pre_grad as pre_grad_pipeline
from xductor.backend.steps.bridge import step_names
from xductor.transforms import TypedPass
from xductor.transforms.rows import registry
from xductor.transforms.rows.pass_row import PassRow, RowMaker

_FX_PASSES = Path(torch.__file__).parent / "_inductor" / "fx_passes"
_RELEASE = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
_TYPED = sorted({row.name for row in registry.ROWS if row.factory})


def _id(row: PassRow) -> str:
    return f"{row.stage}-{row.name}"


def _resolve(reference: str) -> Any:
    file, _, attribute = reference.partition(":")
    path = (_FX_PASSES / file).resolve()
    assert path.is_file(), f"{reference}: no file {path}"
    parts = path.relative_to(Path(torch.__file__).parent.parent).with_suffix("").parts
    names = [part for part in parts if part != "__init__"]
    found: Any = import_module(".".join(names))
    plain, key = re.fullmatch(r"([\w.]+)(?:\[(\w+)\])?", attribute).groups()  # type: ignore[union-attr]
    for name in plain.split("."):
        if not hasattr(found, name):
            assert name in path.read_text(), f"{reference}: {name} is nowhere in {path}"
            tree = ast.parse(path.read_text())
            return next(
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef) and node.name == name
            )
        found = getattr(found, name)
    return found[key] if key else found


@pytest.mark.parametrize("row", registry.ROWS, ids=_id)
def test_inductor_has_the_pass(row: PassRow) -> None:
    reference = registry.inductor_of(row)
    if row.origin == "ours":
        assert not reference
        return
    too_new = row.since is not None and row.since > _RELEASE
    too_old = row.until is not None and row.until < _RELEASE
    if too_new or too_old:
        with pytest.raises((AssertionError, AttributeError, StopIteration)):
            _resolve(reference)
    else:
        assert _resolve(reference) is not None or "custom" in row.name


@pytest.mark.parametrize("name", _TYPED)
def test_typed_class(name: str) -> None:
    cls = registry.typed_class(name)
    assert issubclass(cls, TypedPass)
    assert is_dataclass(cls)
    assert cls.name == name
    stages = {row.stage for row in registry.ROWS if row.name == name and row.factory}
    declared = {cls.stage} if isinstance(cls.stage, str) else set(cls.stage)
    assert stages <= declared
    origins = {row.origin for row in registry.ROWS if row.name == name and row.factory}
    assert origins == {"inductor" if cls.inductor else "ours"}
    assert cls().spec().name == name


_PIPELINES: dict[str, Any] = {
    "pre_grad": pre_grad_pipeline,
    "joint": joint_graph,
    "post_grad": post_grad,
}
#: Inductor runs it between the stages, in a function of its own.
_OUTSIDE_STAGES = {"view_to_reshape"}


def _in_pipeline(stage: str) -> set[str]:
    steps = [*_PIPELINES[stage].STEPS, *(freezing.STEPS if stage == "post_grad" else ())]
    return {name for step in steps for name in step_names(step)}


@pytest.mark.parametrize("row", [row for row in registry.ROWS if row.ours], ids=_id)
def test_each_pass_of_ours_stands_in_a_pipeline(row: PassRow) -> None:
    """A pass that has a row and no place would pass its own tests and never run in a compile."""
    stages = [row.stage] if row.factory else [one.stage for one in registry.rows() if one.factory]
    name = row.covered_by or row.name
    placed = any(name in _in_pipeline(stage) for stage in stages)
    assert placed != (row.name in _OUTSIDE_STAGES), (
        f"no step of the {row.stage} pipeline runs {name!r}: give its row the table of Inductor's "
        f"that has it (`table=`), or name it in a step of backend/pipelines/"
    )


#: Its ops are not in all releases, so that no text of them parses everywhere.
_WITHOUT_TEXT = {"fuse_offset_creation_pass"}


@pytest.mark.parametrize("name", _TYPED)
def test_each_typed_pass_has_a_filecheck_file(name: str) -> None:
    path = Path(__file__).parents[2] / f"filecheck/transforms/{name}.mlir"
    assert path.exists() != (name in _WITHOUT_TEXT), f"{name}: write {path}"


def test_a_pass_that_inductor_lacks() -> None:
    """Its row says so, and needs no place in Inductor's sources."""
    maker = RowMaker("joint", "joint_graph.py")
    ours = maker("neg_neg", "Two of them.", kind="procedural", factory="x:NegNeg", origin="ours")
    assert (ours.inductor, ours.origin, ours.factory) == ("", "ours", "xductor.transforms.x:NegNeg")
    with pytest.raises(ValueError, match="'neg_neg': origin is 'ours', but it names no typed pass"):
        maker("neg_neg", "Two of them.", origin="ours")
    with pytest.raises(ValueError, match="'neg_neg': its class says where Inductor has the pass"):
        maker("neg_neg", "Two of them.", "joint_graph.py:neg_neg", factory="x:NegNeg")


def test_rows_are_unique_and_say_what_they_do() -> None:
    keys = [(row.stage, row.name) for row in registry.ROWS]
    assert len(keys) == len(set(keys))
    for row in registry.ROWS:
        assert row.summary.endswith("."), row
        assert len(row.summary) < 100, row
        assert (row.kind in ("declared", "procedural")) == row.ours, row


def test_every_fusion_and_table_of_inductor_has_a_row() -> None:
    names = {(row.stage, row.name) for row in registry.ROWS}
    for stage, tables in (
        ("pre_grad", (group_batch_fusion.PRE_GRAD_FUSIONS, split_cat.PRE_GRAD_PATTERNS)),
        ("post_grad", (group_batch_fusion.POST_GRAD_FUSIONS, split_cat.POST_GRAD_PATTERNS)),
    ):
        for table in tables:
            missing = [name for name in table if (stage, name) not in names]
            assert not missing


def test_stubs_of_inductor_are_called_not_yet() -> None:
    """A "not yet" row must be an empty function or an empty table in Inductor."""
    for row in registry.ROWS:
        if row.kind != "not yet":
            continue
        stock = getattr(pre_grad, row.name)
        if hasattr(stock, "patterns"):
            assert not stock.patterns, row.name
        else:
            assert len(stock.__code__.co_code) < 60, row.name


def test_table_has_a_line_for_each_row() -> None:
    assert len(registry.table().splitlines()) == len(registry.ROWS) + 1


def test_cli_passes_are_the_typed_ones() -> None:
    assert sorted(registry.passes_for_cli()) == _TYPED


def test_an_unknown_pass_is_named() -> None:
    with pytest.raises(KeyError, match="no_such_pass"):
        registry.typed_class("no_such_pass")
    with pytest.raises(KeyError, match="no_such_pass"):
        registry.row("no_such_pass")
