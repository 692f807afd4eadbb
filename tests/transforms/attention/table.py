"""`python -m tests.transforms.attention.table`: what is fused, by Inductor and by us.

Each spelling in inference and in training, without code generation: whether Inductor's own stages
fuse it, whether ours do, and how far our outputs and gradients are from eager's. "products" means
that the fused call was traced as products and a softmax again. Then what only looks like attention.
With `--models PATH` (a folder with a `models.py` whose `build`, `names` and `META` give models with
attention written out): attention blocks, fused by Inductor, fused by us.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.utils import counters

from tests.transforms.attention.fused import compare, copies
from tests.transforms.attention.look_alikes import LOOK_ALIKES
from tests.transforms.attention.more_spellings import SPELLINGS
from tests.transforms.attention.spelling import Spelling
from tests.transforms.attention.stock_spellings import HALF_PATTERNS, PATTERNS
from xductor.backend.run_as_fx.without_codegen import without_codegen

_KERNEL = "_scaled_dot_product"


@dataclass
class Fused:
    """What a compile did: whether it counted a fusion, and how many kernels its graphs call.

    Inductor counts a fusion in training twice.
    """

    count: int
    kernels: int

    def __str__(self) -> str:
        if self.kernels:
            return str(self.kernels)
        return "products" if self.count else "-"


@contextmanager
def _kernels(found: list[int]) -> Iterator[None]:
    """Count the attention kernels in the forward graphs that the joint stage leaves."""
    compile_fx: Any = importlib.import_module("torch._inductor.compile_fx")
    stage = compile_fx.joint_graph_passes

    def counted(gm: torch.fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        result = stage(gm, *args, **kwargs)
        targets = [str(node.target) for node in (result or gm).graph.nodes]
        found.append(sum(_KERNEL in one and "backward" not in one for one in targets))
        return result

    compile_fx.joint_graph_passes = counted
    try:
        yield
    finally:
        compile_fx.joint_graph_passes = stage


def compiled(function: Callable[..., Any], inputs: Sequence[Any], backend: str) -> Fused | str:
    """Compile for a backend without code generation, as far as the backward."""
    torch._dynamo.reset()
    counters.clear()
    found: list[int] = []
    with warnings.catch_warnings(), without_codegen():
        warnings.simplefilter("ignore")
        run = torch.compile(function, backend=backend, dynamic=False)
        with _kernels(found):
            try:
                run(*inputs)
            except Exception as error:
                return type(error).__name__
    return Fused(counters["inductor"]["fuse_attention"], sum(found))


def _row(spelling: Spelling, training: bool) -> list[str]:
    inputs = copies(spelling.inputs(), grad=training)
    with torch.set_grad_enabled(training):
        stock = compiled(spelling.call(training), inputs, "inductor")
        ours = compiled(spelling.call(training), inputs, "xductor")
    torch.manual_seed(0)
    found = compare(spelling.call(training), spelling.inputs(), grad=training)
    backward = "" if found.backward is None else f"{found.backward:.1e}"
    errors = [f"{found.forward:.1e}", backward] if found.outcome.count else ["", ""]
    reason = "; ".join(dict.fromkeys(found.outcome.reasons))
    mode = "training" if training else "inference"
    return [spelling.name, mode, str(stock), str(ours), *errors, reason]


def _table(spellings: Sequence[Spelling], title: str) -> None:
    header = [title, "mode", "stock", "ours", "forward", "backward", "why not"]
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for one in spellings:
        for training, why in ((False, one.inference), (True, one.training)):
            if why is not None:
                print("| " + " | ".join(_row(one, training)) + " |", flush=True)
    print()


def _models(folder: str, names: Sequence[str]) -> None:
    sys.path.insert(0, folder)
    models: Any = importlib.import_module("models")
    print("| model, one layer | mode | blocks | stock | ours |")
    print("|---|---|---|---|---|")
    for name in names or [one for one in models.names() if models.META[one]["attn"](1)]:
        for training in (False, True):
            built, args, kwargs = models.build(name, layers=1)
            built.train(training)
            blocks = models.META[name]["attn"](1)

            def call(built: Any = built, args: Any = args, kwargs: Any = kwargs) -> Any:
                return built(*args, **kwargs)

            with torch.set_grad_enabled(training):
                stock = compiled(call, (), "inductor")
                ours = compiled(call, (), "xductor")
            mode = "training" if training else "inference"
            print(f"| {name} | {mode} | {blocks} | {stock} | {ours} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="What is fused, by Inductor and by us.")
    parser.add_argument("--models", metavar="FOLDER", help="the table of its models.py instead")
    parser.add_argument("names", nargs="*", help="spellings or models; all if none is given")
    given = parser.parse_args()
    with without_codegen():  # the dispatchers are in place from here on
        torch.compile(torch.sin, backend="xductor")(torch.ones(2))
    if given.models:
        _models(given.models, given.names)
        return
    for spellings, title in (
        (PATTERNS, "Inductor's patterns"),
        (HALF_PATTERNS, "in half precision"),
        (SPELLINGS, "other spellings"),
        (LOOK_ALIKES, "look-alikes"),
    ):
        wanted = [one for one in spellings if not given.names or one.name in given.names]
        if wanted:
            _table(wanted, title)


if __name__ == "__main__":
    main()
