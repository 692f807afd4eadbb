"""Passes and operators from modules that are named on a command line."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

if TYPE_CHECKING:
    from xductor.transforms.rewriting.rewrite import Rewrite

PassFactory = Callable[[], type[ModulePass]]


class PluginError(Exception):
    """A module that cannot be loaded."""


def load(names: Iterable[str]) -> dict[str, PassFactory]:
    """Import modules (`package.module`, or `path/to/file.py`); the passes defined in them, by name.

    A declared rewrite is a pass by itself. Importing a module also registers the operator libraries
    that it defines.

    Raises:
        PluginError: there is no such module.
    """
    passes: dict[str, PassFactory] = {}
    for name in names:
        module = _import(name)
        for cls in vars(module).values():
            if _is_pass(cls) and cls.__module__ == module.__name__:
                passes[cls.name] = lambda cls=cls: cls
            elif _is_rewrite(cls) and cls.__module__ == module.__name__:
                passes[cls.name] = lambda cls=cls: _pass_of(cls)
    return passes


def _is_rewrite(cls: object) -> bool:
    # A module that defines rewrites has imported their base class.
    home = sys.modules.get("xductor.transforms.rewriting.rewrite")
    return home is not None and isinstance(cls, type) and issubclass(cls, home.Rewrite)


def _pass_of(declared: type[Rewrite]) -> type[ModulePass]:
    """A pass that applies one rewrite; its option `policy` says which numerics are admitted."""
    from xductor.transforms.rewriting.rewrite_pass import RewritePass
    from xductor.transforms.typed_pass import TypedPass

    @dataclass(frozen=True)
    class OneRewrite(TypedPass):
        name = declared.name
        stage = declared.stage
        inductor = declared.inductor

        policy: Literal["strict", "default", "fast"] = "default"

        def rewrite(self, module: ModuleOp) -> int:
            return RewritePass.of([declared], self.policy).rewrite(module)

    return OneRewrite


def _is_pass(cls: object) -> bool:
    return (
        isinstance(cls, type)
        and issubclass(cls, ModulePass)
        and not inspect.isabstract(cls)
        and isinstance(getattr(cls, "name", None), str)
    )


def _import(name: str) -> ModuleType:
    path = Path(name)
    if path.suffix != ".py":
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise PluginError(f"cannot load '{name}': {error}") from error
    module_name = f"xductor_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise PluginError(f"cannot load '{name}': no such file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return module
