"""Where an error of a pass began: behind the frames of the drivers that ran it."""

from __future__ import annotations

from types import TracebackType

from xductor.transforms.passes import instrumentation, typed_pass

#: The drivers that call a pass, from the outside in.
_DRIVERS = (instrumentation.__file__, typed_pass.__file__)


def frames_of_pass(error: BaseException) -> TracebackType | None:
    """The part of an error's traceback that begins in a pass; None if no pass raised it."""
    found = error.__traceback__
    entered = False
    while found is not None:
        is_driver = found.tb_frame.f_code.co_filename in _DRIVERS
        if entered and not is_driver:
            return found
        entered = entered or found.tb_frame.f_code is instrumentation.run_counted.__code__
        found = found.tb_next
    return None


__all__ = ["frames_of_pass"]
