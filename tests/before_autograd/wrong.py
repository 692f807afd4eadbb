"""Wrong rewrites of torch's functions and methods, each with a program that it would break.

They aim at regions, aliases, order, results in place and what is saved for the backward.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F

from tests.before_autograd.rewrites import PreGrad
from xductor.ir import ops
from xductor.transforms import ALL_SPELLINGS, Rewrite, Tensor, shared

method, pyfn, aten = ops.method, ops.pyfn, ops.aten
operator = pyfn._operator
Level = Literal["match", "contract"]


@dataclass(frozen=True)
class WrongBefore:
    """A wrong rewrite, a program that it would break, and what refuses it.

    - `kind`: what it is wrong about; `says`: a part of what the refusal says.
    - `level`: "contract", or "match", where it does not match in the first place.
    """

    rewrite: type[Rewrite]
    function: Callable[..., Any]
    kind: str
    level: Level
    says: str


CASES: list[WrongBefore] = []


def wrong(
    kind: str, function: Callable[..., Any], says: str, level: Level = "contract"
) -> Callable[[type[Rewrite]], type[Rewrite]]:
    """Add a rewrite to the set."""

    def add(cls: type[Rewrite]) -> type[Rewrite]:
        CASES.append(WrongBefore(cls, function, kind, level, says))
        return cls

    return add


# Aliases.


@wrong("alias", lambda a, b: b.clone(), "share storage")
class CloneBecomesView(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.clone(x)

    def replacement(self, x: Tensor) -> Any:
        return method.view_as(x, x)


def _clone_then_write(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    own = b * 1
    kept = own.clone()
    own.add_(1)
    return kept * a, own * 2


@wrong("alias", _clone_then_write, "written to")
class CloneBecomesAlias(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.clone(x)

    def replacement(self, x: Tensor) -> Any:
        return aten.alias(x)


def _write_to_piece(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    joined = torch.cat([b])
    joined[0] = 7.0
    return joined * a, b + 0


@wrong("alias", _write_to_piece, "written to")
class CatOfOneBecomesReshape(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.cat([x])

    def replacement(self, x: Tensor) -> Any:
        return method.reshape(x, (4, 4))


def _write_through_view(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    own = b * 1
    view = own.view_as(a)
    view.add_(1)
    return own * a, view * 2


@wrong("alias", _write_through_view, "written to")
class ViewBecomesCopy(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return method.view_as(x, y)

    def replacement(self, x: Tensor) -> Any:
        return method.clone(x)


def _two_results(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    total = a + b
    return total.clone(), total


@wrong("alias", _two_results, "share storage")
class CopiesShareResult(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.clone(x)

    def replacement(self, x: Tensor) -> Any:
        return method.expand_as(x, x)


def _copy_by_cast(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten.to.dtype(b, torch.float32, False, True)


@wrong("alias", _copy_by_cast, "storage of its own")
class CopyByCastBecomesView(PreGrad):
    """The schema of `to` says that it may be a view; with `copy` it never is."""

    def pattern(self, x: Tensor) -> Any:
        return aten.to.dtype(x, torch.float32, False, True)

    def replacement(self, x: Tensor) -> Any:
        return method.view_as(x, x)


def _two_views(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    total = a + b
    return total.view_as(a), total


@wrong("alias", _two_views, "no longer share storage")
class ReturnedViewBecomesCopy(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return method.view_as(x, y)

    def replacement(self, x: Tensor) -> Any:
        return method.clone(x)


# Regions.


def _split_silently(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        one, two = a.split(2, 0)
    return torch.cat([one, two], 0) * b + a


@wrong("region", _split_silently, "grad mode")
class JoinedAcrossNoGrad(PreGrad):
    def pattern(self, x: Tensor, size: int, dim: int) -> Any:
        pieces = method.split(x, size, dim)
        return pyfn.torch.cat([pieces[0], pieces[1]], dim)

    def replacement(self, x: Tensor) -> Any:
        return x


def _double_silently(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        inner = a * 2
    return inner * b + a


@wrong("region", _double_silently, "grad mode")
class ProductAcrossNoGrad(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return operator.mul(operator.mul(x, 2), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return operator.mul(operator.mul(x, y), 2)


def _product_in_autocast(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        product = torch.mm(a, b)
    return torch.relu(product.float())


@wrong("region", _product_in_autocast, "autocast")
class ProductLeavesAutocast(PreGrad):
    numerics = "reassociates"

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return pyfn.torch.relu(method.float(pyfn.torch.mm(x, y)))

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return pyfn.torch.relu(pyfn.torch.mm(x, y))


def _seen_in_no_grad(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        silent = torch.ops.aten.clone.default(a)
    return torch.ops.aten.mul.Tensor(a, silent) * b


@wrong("region", _seen_in_no_grad, "grad mode")
class SquareThroughNoGrad(PreGrad):
    """A variable that is seen a second time behind a copy under `no_grad`."""

    through = ALL_SPELLINGS

    def pattern(self, x: Tensor) -> Any:
        return aten.mul(x, x)

    def replacement(self, x: Tensor) -> Any:
        return aten.mul(x, x)


@wrong("region", lambda a, b: a.detach() * b + a, "requires_grad differs")
class DetachDropped(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.detach(x)

    def replacement(self, x: Tensor) -> Any:
        return x


@wrong("region", lambda a, b: torch.sin(a) * b + a, "requires_grad differs")
class GradientCut(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.sin(x)

    def replacement(self, x: Tensor) -> Any:
        return method.detach(pyfn.torch.sin(x))


# Order.


def _read_write_use(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    read = torch.sin(b)
    b.mul_(2)
    return read + a


@wrong("order", _read_write_use, "one writes to what the other reads")
class ReadMovesBelowWrite(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return operator.add(pyfn.torch.sin(x), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return operator.add(y, pyfn.torch.sin(x))


def _write_read_use(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    written = b.add_(1)
    read = b.view(16) * 2
    return torch.sin(written) + a, read


@wrong("order", _write_read_use, "one writes to what the other reads")
class WriteMovesBelowRead(PreGrad):
    once = True

    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.sin(method.add_(x, 1))

    def replacement(self, x: Tensor) -> Any:
        return pyfn.torch.sin(method.add_(x, 1))


def _write_between_aliases(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    own = b * 1
    view = own.view(16)
    read = torch.sin(own)
    view.mul_(2)
    return read * a + a


@wrong("order", _write_between_aliases, "one writes to what the other reads")
class ReadMovesBelowWriteToView(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return operator.mul(pyfn.torch.sin(x), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return operator.mul(y, pyfn.torch.sin(x))


def _operand_in_place(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    total = a * 1
    scaled = b * 1
    added = total.add_(scaled)
    scaled.mul_(3)
    return torch.cos(added)


@wrong("order", _operand_in_place, "one writes to what the other reads")
class WriteReadsLater(PreGrad):
    """A write moves below a write to what it reads."""

    once = True

    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return pyfn.torch.cos(method.add_(x, y))

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return pyfn.torch.cos(method.add_(x, y))


def _kept_then_written(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    inner = torch.neg(b)
    inner.mul_(3)
    return torch.neg(inner) * a, inner * 2


@wrong("order", _kept_then_written, "before it is used")
class MadeThenWritten(PreGrad):
    """What the inner call made is written to before the outer one reads it."""

    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.neg(shared(pyfn.torch.neg(x)))

    def replacement(self, x: Tensor) -> Any:
        return method.clone(x)


def _transposed_between(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    own = b * 1
    row = own[0]
    own.t_()
    return row.sum() * a


@wrong("order", _transposed_between, "one writes to what the other reads")
class ViewMovesBelowTransposition(PreGrad):
    once = True

    def pattern(self, x: Tensor) -> Any:
        return method.sum(operator.getitem(x, 0))

    def replacement(self, x: Tensor) -> Any:
        return method.sum(operator.getitem(x, 0))


def _two_draws(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    first = torch.rand_like(b)
    second = torch.rand_like(b)
    return first + a, second


@wrong("order", _two_draws, "both draw random numbers")
class DrawMovesBelowDraw(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return operator.add(pyfn.torch.rand_like(x), y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return operator.add(y, pyfn.torch.rand_like(x))


def _dropped_in_place(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    own = b * 1
    early = F.dropout(a, 0.5, True)
    own.uniform_(0, 1)
    return torch.relu(early), own + 0


@wrong("order", _dropped_in_place, "both draw random numbers")
class DropoutMovesBelowUniform(PreGrad):
    once = True

    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.relu(pyfn.torch.nn.functional.dropout(x, 0.5, True))

    def replacement(self, x: Tensor) -> Any:
        return pyfn.torch.relu(pyfn.torch.nn.functional.dropout(x, 0.5, True))


def _two_writes(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    one, two = b * 1, b * 2
    n = one.add_(two)
    m = two.add_(two)
    return n * a, m * a


@wrong("order", _two_writes, "below it in the pattern")
class WritesOfOneTensor(PreGrad):
    """Either of the two may be the first output."""

    once = True

    def pattern(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return method.add_(x, z), method.add_(y, z)

    def replacement(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return method.add_(x, z), method.add_(y, z)


def _write_of_a_view(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    one = b * 1
    view = one.t()
    n = one.add_(b)
    m = view.mul_(b)
    return n * a, m * a


@wrong("order", _write_of_a_view, "below it in the replacement")
class WritesExchanged(PreGrad):
    def pattern(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        return method.add_(x, z), method.mul_(y, z)

    def replacement(self, x: Tensor, y: Tensor, z: Tensor) -> Any:
        product = method.mul_(y, z)
        return method.add_(x, z), product


def _write_and_read(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    one = b * 1
    n = torch.sin(one)
    m = one.mul_(b)
    return n * a, m * a


@wrong("order", _write_and_read, "below it in the replacement")
class ReadAfterTheWrite(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return pyfn.torch.sin(x), method.mul_(x, y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        product = method.mul_(x, y)
        return pyfn.torch.sin(x), product


def _two_draws(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.rand_like(b) * a, F.dropout(b, 0.5, True)


@wrong("order", _two_draws, "below it in the replacement")
class DrawsExchanged(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.rand_like(x), pyfn.torch.nn.functional.dropout(x, 0.5, True)

    def replacement(self, x: Tensor) -> Any:
        dropped = pyfn.torch.nn.functional.dropout(x, 0.5, True)
        return pyfn.torch.rand_like(x), dropped


# Results in place.


@wrong("in place", lambda a, b: (b.add_(1) * a, b + 0), "writes to memory")
class InPlaceBecomesNew(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return method.add_(x, 1)

    def replacement(self, x: Tensor) -> Any:
        return method.add(x, 1)


@wrong("in place", lambda a, b: (torch.sin(b) * a, b + 0), "writes to memory")
class NewBecomesInPlace(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.sin(x)

    def replacement(self, x: Tensor) -> Any:
        return method.sin_(x)


def _add_into_first(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    one, two = a * 1, b * 1
    one.add_(two)
    return one * 2, two * 3


@wrong("in place", _add_into_first, "writes to other tensors")
class WritesToTheOther(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return method.add_(x, y)

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        return method.add_(y, x)


@wrong("in place", lambda a, b: (torch.cos(a) + b.add_(1), b + 0), "writes to other tensors")
class WritesToMore(PreGrad):
    def pattern(self, x: Tensor, y: Tensor) -> Any:
        return operator.add(pyfn.torch.cos(x), method.add_(y, 1))

    def replacement(self, x: Tensor, y: Tensor) -> Any:
        own = pyfn.torch.cos(x)
        written = method.add_(y, 1)
        method.mul_(x, 2)
        return operator.add(own, written)


def _result_is_argument(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    result = F.relu(b, inplace=True)
    result.mul_(2)
    return b + a, result * 3


@wrong("in place", _result_is_argument, "written to")
class ResultIsCopied(PreGrad):
    once = True

    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.nn.functional.relu(x, inplace=True)

    def replacement(self, x: Tensor) -> Any:
        return method.clone(pyfn.torch.nn.functional.relu(x, inplace=True))


# What is drawn, or saved.


@wrong(
    "saved", lambda a, b: torch.relu(F.dropout(a, 0.5, True)) + torch.rand_like(b), "would become 2"
)
class DrawnAgainForTheBackward(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.relu(pyfn.torch.nn.functional.dropout(x, 0.5, True))

    def replacement(self, x: Tensor) -> Any:
        drop = pyfn.torch.nn.functional.dropout
        return operator.add(
            pyfn.torch.relu(drop(x, 0.5, True)), operator.mul(drop(x, 0.5, True), 0)
        )


@torch.library.custom_op("wrong_before::sine", mutates_args=())
def _sine(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x)


_sine.register_fake(lambda x: torch.empty_like(x))


@wrong("saved", lambda a, b: torch.sin(a) * b, "no autograd formula")
class NothingSaved(PreGrad):
    def pattern(self, x: Tensor) -> Any:
        return pyfn.torch.sin(x)

    def replacement(self, x: Tensor) -> Any:
        return ops.wrong_before.sine(x)


__all__ = ["CASES", "WrongBefore"]
