"""A graph module of a compile writes its Python code when somebody asks for it."""

from __future__ import annotations

from typing import Any

from torch._dynamo import config as dynamo_config
from torch._guards import TracingContext
from torch.fx import GraphModule
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.fx.graph_module import _WrappedCall


def write_code_lazily(gm: GraphModule) -> None:
    """Make a graph module of a compile that is running one of FX's lazy kind, in place.

    AOTAutograd hands the backward on as a copy, and copies write their code whenever they are
    changed, while all other graph modules of a compile are lazy. Nothing reads the code of one that
    is compiled, which takes a fifth of a stage to write.

    Nothing is done outside a compile, for a class that somebody derived, or where Dynamo's
    `use_lazy_graph_module` is off.
    """
    if not dynamo_config.use_lazy_graph_module or TracingContext.try_get() is None:
        return
    if type(gm).__mro__[1] is not GraphModule:  # each graph module has a class of its own
        return
    old = type(gm)
    members: dict[str, Any] = {"forward": old.forward, "__module__": old.__module__}
    new: Any = type("GraphModuleImpl", (_LazyGraphModule,), members)  # as FX tells them apart
    new.__name__ = old.__name__
    new._wrapped_call = _WrappedCall(new, None)  # FX makes it with the first code
    gm.__class__ = new


__all__ = ["write_code_lazily"]
