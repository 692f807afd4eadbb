"""Room on Python's stack for the stages."""

from __future__ import annotations

import inspect

import pytest

from xductor import joint_graph_passes, post_grad_passes, pre_grad_passes
from xductor.backend import stack_room
from xductor.backend.stack_room import with_stack_room


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


def test_the_stages_have_room() -> None:
    for stage in (pre_grad_passes, joint_graph_passes, post_grad_passes):
        assert stage.__code__ is with_stack_room(stage).__code__
