"""Room on Python's stack, so that a stage costs the same however deep in a compile it is called.

CPython keeps the frames of Python functions in chunks of 16 KiB, and maps memory for another if a
call does not fit. A loop at the end of a chunk maps and unmaps memory for each call it makes, which
costs ten times the call and more. Which loop that is depends on how deep the caller stands; in a
stage it took a third to a half of the time. A frame that is larger than a chunk gets one of its
own, a power of two in size, and what is left of that holds the frames of its callees. Mapping it
costs some microseconds, so a stage does it only when it lowers its graph.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: In units of eight bytes: half a chunk of 256 KiB, whose other half has room for some hundred
#: frames. The large frame itself is never written to, and so takes no memory.
_SLOTS = 1 << 14


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


_call.__code__ = _call.__code__.replace(co_stacksize=_SLOTS)


def with_stack_room(function: Callable[P, R]) -> Callable[P, R]:
    """Make `function` run where the frames of its callees fit in one chunk of the stack."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        result: R = _call(function, args, kwargs)
        return result

    return run


__all__ = ["with_stack_room"]
