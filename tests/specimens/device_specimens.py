"""Graphs for `fix_iota_device`: ranges on the CPU that index CUDA tensors."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp

from xductor.backend.pass_validation.comparison import same_results
from xductor.backend.pass_validation.same_draws import on_cpu
from xductor.backend.pass_validation.specimen import Specimen
from xductor.ir import parse_ir, print_ir
from xductor.transforms import Numerics
from xductor.transforms.joint_graph.fix_iota_device import FixIotaDevice
from xductor.transforms.rewriting.contracts import Violation

_RANGE = "prims.iota.default"


def same_but_for_the_device(before: ModuleOp, after: ModuleOp, numerics: Numerics) -> int:
    """Check that only the device of ranges differs, and that results agree with all on the CPU.

    Raises Violation if not.
    """
    lines = [print_ir(one).splitlines() for one in (before, after)]
    if len(lines[0]) != len(lines[1]):
        raise Violation(f"{len(lines[0])} lines have become {len(lines[1])}")
    for old, new in zip(*lines, strict=True):
        if old != new and not (_RANGE in old and old.replace("cpu", "cuda:0") == new):
            raise Violation(f"more than a range's device differs:\n  {old}\n  {new}")
    return same_results(on_cpu(before), on_cpu(after), numerics)


def _range(name: str, count: int, start: int, step: int, dtype: str = "i64") -> str:
    return (
        f"  %{name} = {_RANGE} {count}, start = {start}, step = {step}, dtype = {dtype}, "
        f"device = device<cpu>, requires_grad = false : !fx.tensor<{dtype}[{count}], cpu>"
    )


def _read(name: str, index: str, count: int, dtype: str) -> str:
    return f"  %{name} = aten.index.Tensor %x, [%{index}] : !fx.tensor<{dtype}[{count}, 4], cuda:0>"


def _written(name: str, index: str, count: int, dtype: str) -> str:
    put = f"!fx.tensor<{dtype}[8, 4], cuda:0>"
    return f"  %{name} = aten.index_put.default %x, [%{index}], %y : {put}"


def _graph(lines: list[str], outputs: str, count: int, dtype: str) -> ModuleOp:
    arguments = (
        f"%x : !fx.tensor<{dtype}[8, 4], cuda:0>, %y : !fx.tensor<{dtype}[{count}, 4], cuda:0>"
    )
    head = f"fx.graph @indexed stage(joint) symbols() ({arguments}) {{"
    return parse_ir("\n".join([head, *lines, f"  fx.output ({outputs},)", "}"]))


def ranges() -> Iterator[Specimen]:
    """Ranges that are read at, written at, and both; also beside one that has to stay."""
    one = FixIotaDevice()
    for dtype in ("f32", "f64", "f16", "bf16", "i64", "i32", "i1"):
        for count, start, step in ((8, 0, 1), (4, 0, 2), (3, 5, 1), (1, 7, 1), (0, 0, 1)):
            made = _range("i", count, start, step)
            read, written = _read("a", "i", count, dtype), _written("b", "i", count, dtype)
            kept = _range("k", 3, 1, 2)
            for what, lines, outputs in (
                ("read", [made, read], "%a"),
                ("written", [made, written], "%b"),
                ("both", [made, read, written], "%a, %b"),
                ("beside one that is returned", [made, kept, read], "%a, %k"),
            ):
                title = f"{what}, {count} from {start} by {step}, {dtype}"
                yield Specimen(title, _graph(lines, outputs, count, dtype), one)


__all__ = ["ranges", "same_but_for_the_device"]
