"""Room on Python's stack for the stages."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any, ClassVar

import pytest
import torch
from torch._inductor import config
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.run_as_fx.without_codegen import without_codegen
from xductor.backend.stage_runs import stack_room
from xductor.backend.stage_runs.stack_room import with_stack_room
from xductor.transforms import Stage, TypedPass


def test_arguments_and_result_go_through() -> None:
    @with_stack_room
    def function(a: int, *rest: int, b: int = 0) -> tuple[int, tuple[int, ...], int]:
        return a, rest, b

    assert function(1, 2, 3, b=4) == (1, (2, 3), 4)
    assert list(inspect.signature(function).parameters) == ["a", "rest", "b"]


def test_an_error_goes_through() -> None:
    @with_stack_room
    def function() -> None:
        raise ValueError("expected")

    with pytest.raises(ValueError, match="expected"):
        function()


def test_the_frame_is_larger_than_a_chunk() -> None:
    assert stack_room._call.__code__.co_stacksize * 8 > 16 * 1024


@dataclass(frozen=True)
class Looking(TypedPass):
    """Changes nothing, and tells whether it has room."""

    name: ClassVar[str] = "looking"
    stage: ClassVar[Stage | tuple[Stage, ...]] = "joint"
    inductor: ClassVar[str] = ""
    roots: ClassVar[frozenset[object]] = frozenset((torch.ops.aten.add.Tensor,))
    seen: ClassVar[list[bool]] = []

    def rewrite(self, module: ModuleOp) -> int:
        self.seen.append(any(code is stack_room._call.__code__ for code in _codes()))
        return 0


def test_what_is_lowered_has_room() -> None:
    """Every pass that gets a lowered graph runs there, the first one and those after it."""
    Looking.seen.clear()
    hooks: dict[str, Any] = {
        "joint_custom_pre_pass": Looking(),
        "joint_custom_post_pass": Looking(),
    }
    with config.patch(hooks), without_codegen():
        torch.compile(lambda x: x + 1, backend="xductor")(torch.ones(2, 3))
    assert Looking.seen == [True, True]


def _codes() -> Iterator[CodeType]:
    frame = sys._getframe()
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back
