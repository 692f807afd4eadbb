"""The three points at which Inductor hands a graph to its passes."""

from __future__ import annotations

from typing import Literal

Stage = Literal["pre_grad", "joint", "post_grad"]

__all__ = ["Stage"]
