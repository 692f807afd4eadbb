"""What `where` may say of sizes, and what it is told of habits from PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

from xductor.ir import aten, parse_ir
from xductor.transforms import Rewrite, Tensor, no
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.rewriting.driver import (
    ContractViolation,
    Driver,
    RewriteIndex,
    watching,
)


def _rewrite(condition: Any) -> type[Rewrite]:
    class Asks(Rewrite):
        stage = "joint"

        def pattern(self, x: Tensor) -> Any:
            return aten.add(x, x)

        def where(self, x: Tensor) -> Any:
            return condition(x)

        def replacement(self, x: Tensor) -> Any:
            return aten.mul(x, 2)

    return Asks


SYMBOLS = "symbols(s0 : int [2, int_oo], s2 : int [8, 15], s3 : int [0, int_oo])"


def _asked(condition: Any, size: str) -> tuple[int, list[str]]:
    module = parse_ir(f"""
fx.graph @forward stage(joint) {SYMBOLS} (%x : !fx.tensor<f32[{size}, 4], cpu>) {{
  %y = aten.add.Tensor %x, %x : !fx.tensor<f32[{size}, 4], cpu>
  fx.output (%y)
}}
""")
    told: list[str] = []
    with watching(report=lambda one, op, error: told.append(str(error))):
        return Driver(RewriteIndex([_rewrite(condition)()])).rewrite(module), told


@pytest.mark.parametrize(
    ("condition", "size", "applied"),
    [
        (lambda x: x.shape[0] % 8 == 0, "16", True),
        (lambda x: x.shape[0] % 8 == 0, "12", False),
        (lambda x: x.shape[0] % 8 == 0, "8*s0", True),
        (lambda x: x.shape[0] % 8 == 3, "8*s0 + 3", True),
        (lambda x: x.shape[0] % 8 == 0, "8*s0 + 3", False),
        (lambda x: x.shape[0] % 8 != 0, "8*s0 + 3", True),
        (lambda x: x.shape[0] % 8 == 0, "s0", None),
        (lambda x: x.shape[0] % 8 < 8, "s0", True),
        (lambda x: not x.shape[0] % 8, "8*s0", True),
        (lambda x: not x.shape[0] % 8, "s0", None),
        (lambda x: bool(x.shape[0]), "s0", True),
        (lambda x: bool(x.shape[0]), "s3", None),
        (lambda x: x.shape[0] // 8 == 1, "s2", True),
        (lambda x: x.shape[0] // 8 == 2, "s0", None),
        (lambda x: divmod(x.shape[0], 8)[0] == 2, "19", True),
        (lambda x: divmod(x.shape[0], 8)[1] == 3, "19", True),
        (lambda x: 100 % x.shape[0] == 4, "12", True),
        (lambda x: 100 // x.shape[0] == 8, "12", True),
        (lambda x: divmod(100, x.shape[0])[1] == 4, "12", True),
        (lambda x: -x.shape[0] % 8 == 5, "19", True),
        (lambda x: x.shape[0] % x.shape[0] == 0, "s0", True),
        (lambda x: x.size(0) == 19, "19", True),
        (lambda x: x.size()[1] == 4 and x.dim() == 2, "s0", True),
        (lambda x: x.element_size() == 4, "s0", True),
    ],
)
def test_arithmetic_is_three_valued(condition: Any, size: str, applied: bool | None) -> None:
    count, told = _asked(condition, size)
    assert count == (applied is True)
    assert bool(told) == (applied is None), told
    if applied is None:
        assert "not known whether" in told[0]


def test_remainders_keep_what_is_known_of_signs() -> None:
    seen: list[str] = []
    _asked(lambda x: seen.append(str(x.shape[0] % 8)) or no("seen"), "s0")
    _asked(lambda x: seen.append(str((x.shape[0] - 5) % 8)) or no("seen"), "s0")
    assert seen == ["mod(s0, 8)", "pymod(s0 - 5, 8)"]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (lambda x: x.sizes[0] == 3, "has no `sizes`; did you mean `shape`?"),
        (lambda x: x.strides[0] == 3, "has no `strides`; did you mean `stride`?"),
        (lambda x: x.dtypes == 3, "has no `dtypes`; did you mean `dtype`?"),
        (lambda x: x.is_cuda, "did you mean `device.type`?"),
        (lambda x: x.wholly_other, "it has at_any_size, device, dim, dtype"),
        (lambda x: x.shape[3] == 3, "tuple index out of range"),
        (lambda x: x.shape[0] / 2 == 3, "`//` rounds down"),
        (lambda x: x.shape[0] % 0 == 3, "ZeroDivisionError"),
    ],
)
def test_an_error_names_the_line_of_the_rewrite(condition: Any, said: str) -> None:
    module = parse_ir("""
fx.graph @forward stage(joint) symbols() (%x : !fx.tensor<f32[3, 4], cpu>) {
  %y = aten.add.Tensor %x, %x : !fx.tensor<f32[3, 4], cpu>
  fx.output (%y)
}
""")
    with pytest.raises(ContractViolation) as caught:
        Driver(RewriteIndex([_rewrite(condition)()])).rewrite(module)
    text = str(caught.value)
    assert said in text
    assert f"({__file__}:{condition.__code__.co_firstlineno})" in text


def _with_where(where: Any) -> type[Rewrite]:
    return type("Asks", (_rewrite(lambda x: True),), {"where": where, "__module__": __name__})


def test_a_device_is_no_string() -> None:
    def equal(self: Any, x: Tensor) -> Any:
        return x.device == "cpu"

    def turned(self: Any, x: Tensor) -> Any:
        return "cuda" != x.device  # noqa: SIM300

    def one_of_them(self: Any, x: Tensor) -> Any:
        return x.device in ("cuda", "cpu")

    for where in (equal, turned, one_of_them):
        line = where.__code__.co_firstlineno + 1
        with pytest.raises(PatternError, match=rf"test_conditions.py:{line}\).*`.device.type`"):
            _with_where(where)


def test_what_is_right_of_devices_is_left_alone() -> None:
    def kind(self: Any, x: Tensor) -> Any:
        return x.device.type == "cpu" and x.device.type in ("cpu", "cuda")

    def two(self: Any, x: Tensor) -> Any:
        return x.device == x.device or no("cpu")

    for where in (kind, two):
        assert _with_where(where).where is where
