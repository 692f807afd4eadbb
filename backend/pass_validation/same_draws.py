"""Runs under which PyTorch's generator and the compiler's give the same numbers.

Which numbers the compiler's generator draws is a matter of code generation, and compared with
Inductor's elsewhere. What a pass has to keep is which draw goes where. So each draw of PyTorch's
generator is a function of its number, as each seed of the compiler's is; a draw from a seed is the
same function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Interpreter
from torch.utils._python_dispatch import TorchDispatchMode
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.fx.export import to_fx
from xductor.backend.pass_validation.comparison import agreeing
from xductor.ir import parse_ir, print_ir
from xductor.transforms import Numerics
from xductor.transforms.validation.fragment_runs import run_fragment


def same_given_draws(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """The number of inputs on which both agree, draw for draw. Raises Violation if they differ."""
    return agreeing(before, after, numerics, under=lambda trial: SameDraws(trial.seed))


def same_given_draws_on_cpu(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """Compare graphs for CUDA as `same_given_draws` does, with everything on the CPU."""
    return same_given_draws(on_cpu(before), on_cpu(after), numerics)


def same_given_generator(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """The number of inputs on which both agree from the same state of PyTorch's generator.

    Runs both as FX, for operators that require a GraphModule. Raises Violation if they differ.
    """

    def run(module: ModuleOp, inputs: list[Any], seed: int) -> list[Any]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return [*Interpreter(to_fx(module)).run(*inputs)]

    return agreeing(before, after, numerics, run=run)


def same_given_dropped_columns(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """The number of inputs on which results and gradients agree where dropouts drop by the last
    index: as many of them as one. Raises Violation if they differ.
    """

    def run(module: ModuleOp, inputs: list[Any], seed: int) -> list[Any]:
        made = run_fragment(module, inputs, seed)
        return [*made.outputs, *made.gradients]

    return agreeing(before, after, numerics, run=run, under=lambda trial: DroppedColumns())


class DroppedColumns(TorchDispatchMode):
    """Draws of 0 and 1 that depend on the last index alone. Of other draws it knows nothing."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if str(func) != "aten.bernoulli_.float":
            return func(*args, **(kwargs or {}))
        noise = args[0]
        return noise.copy_((torch.arange(noise.shape[-1]) % 3 > 0).expand(noise.shape))


def on_cpu(module: ModuleOp) -> ModuleOp:
    """The same graph with "cpu" for each "cuda:0"."""
    return parse_ir(print_ir(module).replace("cuda:0", "cpu"))


class SameDraws(TorchDispatchMode):
    """Draws by number: the same ones from PyTorch's generator and from seeds.

    - `first`: the number of the first draw.

    Operators that draw in other ways are left alone.
    """

    def __init__(self, first: int = 0) -> None:
        super().__init__()
        self.next = first * 1000
        self.calls = _calls()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = self.calls.get(str(func))
        if made is None:
            return func(*args, **(kwargs or {}))
        return made(self, *args, **(kwargs or {}))

    def number(self, step: int = 1) -> int:
        """The number of the next draw; the one after it is `step` further."""
        number = self.next
        self.next += step
        return number


def _drawn(number: int, kind: str, size: Any, *bounds: int) -> torch.Tensor:
    """The numbers of one draw, as the compiler's generator gives them: float32 or int64."""
    generator = torch.Generator().manual_seed(number)
    draw: Callable[..., torch.Tensor] = getattr(torch, kind)
    dtype = torch.int64 if kind == "randint" else torch.float32
    return draw(*bounds, list(size), generator=generator, dtype=dtype)


def _calls() -> dict[str, Callable[..., torch.Tensor]]:
    def floats(kind: str) -> Callable[..., torch.Tensor]:
        def call(mode: SameDraws, size: Any, *, dtype: Any = None, **_: Any) -> torch.Tensor:
            return _drawn(mode.number(), kind, size).to(dtype or torch.get_default_dtype())

        return call

    def integers(
        mode: SameDraws, low: int, high: int, size: Any, *, dtype: Any = None, **_: Any
    ) -> torch.Tensor:
        return _drawn(mode.number(), "randint", size, low, high).to(dtype or torch.int64)

    def seeds(mode: SameDraws, count: int, device: Any) -> torch.Tensor:
        return torch.tensor([mode.number() for _ in range(count)])

    def offsets(mode: SameDraws, steps: Any, device: Any) -> torch.Tensor:
        return torch.tensor([[7, mode.number(int(step))] for step in steps])

    def random(mode: SameDraws, size: Any, seed: torch.Tensor, kind: str, **_: Any) -> torch.Tensor:
        return _drawn(int(seed.reshape(-1)[-1]), kind, size)

    def randint(
        mode: SameDraws, low: int, high: int, size: Any, seed: torch.Tensor
    ) -> torch.Tensor:
        return _drawn(int(seed), "randint", size, low, high)

    return {
        "aten.rand.default": floats("rand"),
        "aten.randn.default": floats("randn"),
        "aten.randint.low": integers,
        "prims.inductor_seed.default": lambda mode, device: seeds(mode, 1, device)[0],
        "prims.inductor_seeds.default": seeds,
        "prims.inductor_rand_eager_offset.default": (
            lambda mode, step, device: offsets(mode, [step], device)[0]
        ),
        "prims.inductor_rand_eager_offsets.default": offsets,
        "prims.inductor_random.default": random,
        "prims.inductor_randint.default": randint,
    }


__all__ = [
    "DroppedColumns",
    "SameDraws",
    "on_cpu",
    "same_given_draws",
    "same_given_draws_on_cpu",
    "same_given_dropped_columns",
]
