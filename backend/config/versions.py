"""What differs between the versions of torch that the seam knows.

Every difference is asked here, so that the rest of the backend reads as if there were one torch.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Literal

import torch

Stage = Literal["pre_grad", "joint", "post_grad"]

#: The name of each stage's function in `torch._inductor.compile_fx`.
STAGE_FUNCTIONS: dict[Stage, str] = {
    "pre_grad": "pre_grad_passes",
    "joint": "joint_graph_passes",
    "post_grad": "post_grad_passes",
}


class UnsupportedTorchError(RuntimeError):
    """This torch is not one whose Inductor the seam knows."""


@dataclass(frozen=True)
class InductorVersion:
    """How the Inductor of one release of torch meets the seam.

    - `custom_pass_hooks`: whether a hook such as `post_grad_custom_pre_pass` holds one callable or
      a list of them.
    - `pre_grad_result`: whether the caller of `pre_grad_passes` goes on with the module that it
      returns, or with the one it passed in.
    - `pre_grad_timing`: whether `pre_grad_pass_timing` exists, so that the stage may run after the
      cache lookup.
    - `numpy_compat`: whether numpy's spellings of keyword arguments are replaced before or after
      the fusions of the pre-grad stage.
    - `updater_of`: what `FakeTensorUpdater` is made from.
    - `overlap_options`: the options of overlap scheduling that are on if they are None.
    - `unknown_fusions`: what happens to an entry of `pre_grad_fusion_options` that names no table.
    """

    release: tuple[int, int]
    custom_pass_hooks: Literal["callable", "list"]
    pre_grad_result: Literal["used", "dropped"]
    pre_grad_timing: bool
    numpy_compat: Literal["before", "after"] = "before"
    updater_of: Literal["graph", "module"] = "module"
    overlap_options: tuple[str, ...] = ("insert_overlap_deps",)
    unknown_fusions: Literal["error", "skipped"] = "error"

    @property
    def lacks(self) -> tuple[str, ...]:
        """What later releases have and this one does not."""
        absent = {
            "lists of custom passes": self.custom_pass_hooks == "callable",
            "pre_grad_pass_timing": not self.pre_grad_timing,
        }
        return tuple(name for name, lacking in absent.items() if lacking)


_BEFORE_2_13: dict[str, Any] = {
    "numpy_compat": "after",
    "updater_of": "graph",
    "overlap_options": ("insert_overlap_deps", "enable_fusion_regions"),
}

VERSIONS: dict[tuple[int, int], InductorVersion] = {
    version.release: version
    for version in (
        InductorVersion((2, 11), "callable", "used", pre_grad_timing=False, **_BEFORE_2_13),
        InductorVersion((2, 12), "callable", "dropped", pre_grad_timing=True, **_BEFORE_2_13),
        InductorVersion((2, 13), "list", "dropped", pre_grad_timing=True),
        InductorVersion(
            (2, 14), "list", "dropped", pre_grad_timing=True, unknown_fusions="skipped"
        ),
    )
}


def torch_release(version: str | None = None) -> tuple[int, int]:
    """(major, minor) of `version`, or of the torch that is running."""
    text = str(torch.__version__) if version is None else version
    found = re.match(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


@cache
def inductor_version() -> InductorVersion:
    """The row for the running torch.

    Raises UnsupportedTorchError for an unknown release, or one that lacks a name the seam needs.
    """
    version = VERSIONS.get(torch_release())
    if version is None:
        first, last = (".".join(map(str, edge(VERSIONS))) for edge in (min, max))
        raise UnsupportedTorchError(
            f"xductor knows Inductor of torch {first} to {last}, this is torch {torch.__version__};"
            " its passes were not installed. Install a torch of that range,"
            " or a newer xductor"
        )
    absent = [name for name in STAGE_FUNCTIONS.values() if not callable(_compile_fx_name(name))]
    if absent:
        raise UnsupportedTorchError(
            f"torch {torch.__version__} has no torch._inductor.compile_fx.{', '.join(absent)}: "
            "this build differs from the release whose number it carries; "
            "xductor's passes were not installed"
        )
    return version


def supported() -> bool:
    """Whether the seam knows the running torch."""
    try:
        inductor_version()
    except UnsupportedTorchError:
        return False
    return True


def compile_fx_module() -> ModuleType:
    """The module in whose globals Inductor looks up its stage functions."""
    return import_module("torch._inductor.compile_fx")


def _compile_fx_name(name: str) -> object:
    return getattr(compile_fx_module(), name, None)


def cache_key_class() -> type | None:
    """The class whose fields Inductor hashes into a key of its caches, if it has the known shape.

    The key class of AOTAutograd's cache derives from it, so that one wrapper serves both.
    """
    from torch._inductor import codecache

    found = getattr(codecache, "FxGraphHashDetails", None)
    if not isinstance(found, type):
        return None
    parameters = list(inspect.signature(found.__init__).parameters)
    if parameters[:3] != ["self", "gm", "example_inputs"]:
        return None
    autograd = _autograd_cache_module()
    details = getattr(autograd, "AOTAutogradCacheDetails", None)
    return found if isinstance(details, type) and issubclass(details, found) else None


def cache_bypass(reason: str) -> Exception:
    """The exception that makes Inductor compile without its caches, `reason` in its log."""
    from torch._inductor.codecache import BypassFxGraphCache

    return BypassFxGraphCache(reason)


def cache_writers() -> tuple[tuple[type, str], ...]:
    """(class, name of a static method) for everything that stores a compiled graph by its key."""
    from torch._inductor.codecache import FxGraphCache

    autograd = _autograd_cache_module().AOTAutogradCache
    return ((FxGraphCache, "_save_graph"), (autograd, "save"))


def partitioners_module() -> ModuleType | None:
    """The module that splits a joint graph into a forward and a backward.

    None if this torch has none of the known shape.
    """
    module = import_module("torch._functorch.partitioners")
    names = ("_extract_graph_with_inputs_outputs", "_extract_fwd_bwd_modules")
    return module if all(callable(getattr(module, one, None)) for one in names) else None


def freezing_module() -> ModuleType | None:
    """The module that freezes parameters; None where this torch has none of the known shape."""
    module = import_module("torch._inductor.freezing")
    return module if callable(getattr(module, "freezing_passes", None)) else None


def rematerialisation_module() -> ModuleType | None:
    """The module that recomputes checkpointed regions in a graph that is not partitioned.

    None if this torch has none of the known shape.
    """
    name = "remat_using_tags_for_fwd_loss_bwd_graph_pass"
    try:
        module = import_module(f"torch._functorch._activation_checkpointing.{name}")
    except ModuleNotFoundError:
        return None
    names = ("has_recomputable_rng_ops", "must_recompute")
    return module if all(callable(getattr(module, one, None)) for one in names) else None


def cache_readers() -> tuple[tuple[type, str], ...]:
    """(class, name) of what finds a graph by its key, and of what makes a result from an entry that
    AOTAutograd found; only those that this torch has.
    """
    from torch._functorch._aot_autograd import aot_autograd_result
    from torch._inductor.codecache import FxGraphCache

    result = getattr(aot_autograd_result, "GenericAOTAutogradResult", None)
    readers = ((FxGraphCache, "load_with_key"), (result, "wrap_post_compile"))
    return tuple([(owner, name) for owner, name in readers if owner and hasattr(owner, name)])


def compiler_config() -> Any:
    """`torch.compiler.config`, whose type the type checkers do not see."""
    return import_module("torch.compiler.config")


def has_default(name: str) -> bool:
    """Whether an option of Inductor's configuration exists here and has its default value.

    Whether a user set it to that cannot be told: each `config.patch` restores it as a user would.
    """
    from operator import attrgetter

    from torch._inductor import config

    entry: Any = config._config.get(name)  # type: ignore[attr-defined]
    return entry is not None and attrgetter(name)(config) == entry.default


def is_key_of_autograd(key: Any) -> bool:
    """Whether a key is one of AOTAutograd's cache."""
    return isinstance(key, _autograd_cache_module().AOTAutogradCacheDetails)


def _autograd_cache_module() -> ModuleType:
    from torch._functorch._aot_autograd import autograd_cache

    return autograd_cache


def custom_passes(hook: Any) -> tuple[Callable[..., Any], ...]:
    """What a custom pass hook holds, as a tuple: nothing, one callable, or several."""
    if hook is None:
        return ()
    return tuple(hook) if isinstance(hook, (list, tuple)) else (hook,)


def pre_grad_runs_late() -> bool:
    """Whether `pre_grad_passes` runs after the lookup in AOTAutograd's cache."""
    if not inductor_version().pre_grad_timing:
        return False
    from torch._inductor import codecache

    resolve = getattr(codecache, "resolve_pre_grad_pass_timing", None)
    return resolve is not None and resolve() == "late"
