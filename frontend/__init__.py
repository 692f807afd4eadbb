"""Lowers FX graphs to the IR."""

from xductor.frontend.errors import LoweringError
from xductor.frontend.fx_importer import from_fx

__all__ = ["LoweringError", "from_fx"]
