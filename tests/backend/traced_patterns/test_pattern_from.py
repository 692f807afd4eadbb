"""Patterns that are traced from functions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import xductor
from tests.backend.traced_patterns.random_functions import inputs, random_function
from xductor import Rewrite, Tensor
from xductor.backend.config.rewrite_identity import rewrite_identity
from xductor.backend.testing.captured_stages import Stages, capture
from xductor.ir import aten, ops
from xductor.transforms.matching.patterns import PatternError

B = torch.bfloat16


@torch.library.custom_op("traced_patterns::silu_mul", mutates_args=())
def silu_mul_op(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.silu(x) * y


@silu_mul_op.register_fake
def _(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def silu_mul(x: Any, y: Any) -> Any:
    return F.silu(x) * y


def rms_norm(x: Any, w: Any, eps: Any) -> Any:
    wide = x.float()
    normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return w * normed.to(x.dtype)


def applied(name: str, function: Callable[..., Any], *given: Any, **options: Any) -> int:
    """How often a rewrite is applied in a compile, whose results are compared with eager's."""
    stages = capture(function, *given, options={"xductor.on_error": "raise"}, **options)
    torch.testing.assert_close(stages.output, function(*given))
    return count(stages, name)


def count(stages: Stages, name: str) -> int:
    return sum(one.record.applications(name) for one in stages)


@pytest.mark.parametrize("stage", ["pre_grad", "post_grad"])
def test_a_function_is_fused_into_an_operator(stage: Any) -> None:
    given = torch.randn(4, 8), torch.randn(4, 8)
    made = xductor.pattern_from(
        silu_mul, *given, stage=stage, replacement=torch.ops.traced_patterns.silu_mul
    )
    assert "ops.traced_patterns.silu_mul(x, y)" in made.source

    def model(x: Any, y: Any) -> Any:
        return silu_mul(x.cos(), y) + silu_mul(y.sin(), x.tanh())

    other = torch.randn(6, 3), torch.randn(6, 3)
    for dynamic in (False, True):
        assert applied("silu_mul", model, *other, rewrites=[made.rewrite], dynamic=dynamic) == 2


def test_a_class_without_a_replacement_is_given_one_in_a_subclass() -> None:
    made = xductor.pattern_from(silu_mul, torch.randn(4, 8), torch.randn(4, 8))
    base: Any = made.rewrite

    class Fused(base):
        def replacement(self, x: Tensor, y: Tensor) -> Any:
            return ops.traced_patterns.silu_mul(x, y)

    assert applied("fused", silu_mul, torch.randn(5, 7), torch.randn(5, 7), rewrites=[Fused]) == 1
    assert rewrite_identity(Fused) is not None


def test_a_process_in_which_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """`xductor bisect --reference eager` runs a script so."""
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    traced = xductor.pattern_from(lambda x: F.silu(x) * 2, torch.randn(3))
    assert "aten.mul" in str(traced)
    assert os.environ["TORCHDYNAMO_DISABLE"] == "1"


def test_the_source_is_the_class(tmp_path: Path) -> None:
    made = xductor.pattern_from(
        rms_norm, torch.randn(4, 8, dtype=B), torch.randn(8, dtype=B), 1e-6, replacement=rms_norm
    )
    file = tmp_path / "kept.py"
    file.write_text(str(made))
    spec = spec_from_file_location("kept_traced_pattern", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    assert module.RmsNorm.stage == made.rewrite.stage
    assert repr(module.RmsNorm().compiled.outputs) == repr(made.rewrite().compiled.outputs)
    assert max(map(len, made.source.splitlines()[3:])) <= 100  # behind the path of the function


def test_equal_sources_have_one_identity() -> None:
    """So that a compile with a traced rewrite is cached."""
    given = torch.randn(4, 8), torch.randn(4, 8)
    one, two = (
        rewrite_identity(xductor.pattern_from(silu_mul, *given, replacement=silu_mul).rewrite)
        for _ in range(2)
    )
    assert one is not None
    assert one == two


def test_a_number_that_is_a_parameter_is_open_and_one_in_the_code_is_not() -> None:
    def once(x: Any, a: Any) -> Any:
        return (x.sin() + a) * 3.0

    made = xductor.pattern_from(
        once, torch.randn(4, 4), 2.0, replacement=lambda x, a: torch.add(a, x.sin()) * 3.0
    )

    class Once(made.rewrite):  # type: ignore[name-defined]
        once = True

    x = torch.randn(4, 4)
    assert applied("once", lambda x: once(x, 7.0), x, rewrites=[Once]) == 1
    assert applied("once", lambda x: (x.sin() + 7.0) * 4.0, x, rewrites=[Once]) == 0


def test_what_is_computed_from_a_parameter_is_open_too() -> None:
    def heads(x: Any, n: int) -> Any:
        return x.view(x.shape[0], x.shape[1], n, x.shape[2] // n).transpose(1, 2).contiguous()

    made = xductor.pattern_from(heads, torch.randn(2, 3, 32), 4)
    assert "size == (x.shape[2] // n)" in made.source
    with pytest.raises(PatternError, match="plain number in some of the traces"):
        xductor.pattern_from(heads, torch.randn(2, 3, 8), 4)


def test_dtypes_and_ranks_are_those_of_the_traces() -> None:
    made = xductor.pattern_from(
        rms_norm,
        torch.randn(4, 8, dtype=B),
        torch.randn(8, dtype=B),
        1e-6,
        also=[
            (torch.randn(4, 8, dtype=torch.float16), torch.randn(8, dtype=torch.float16), 1e-6),
            (torch.randn(2, 4, 8), torch.randn(8), 1e-6),
        ],
    )
    base: Any = made.rewrite

    class Marked(base):
        once = True
        numerics = xductor.APPROXIMATE

        def replacement(self, x: Tensor, w: Tensor, eps: float) -> Any:
            return aten.mul(aten.mul(x, aten.add(aten.mul(w, 0), 1)), 1)

    def fires(*shape: int, dtype: torch.dtype) -> bool:
        given = torch.randn(*shape, dtype=dtype), torch.randn(shape[-1], dtype=dtype), 1e-5
        stages = capture(rms_norm, *given, rewrites=[Marked], options={"xductor.numerics": "fast"})
        return bool(count(stages, "marked"))

    assert fires(5, 6, dtype=B)
    assert fires(5, 6, dtype=torch.float16)
    assert fires(3, 5, 6, dtype=torch.float32)
    assert not fires(3, 5, 6, dtype=B)
    assert not fires(5, 6, dtype=torch.float32)


def test_open_dtypes_and_ranks_are_asked_for() -> None:
    given = torch.randn(4, 8), torch.randn(4, 8)
    made = xductor.pattern_from(silu_mul, *given, dtypes="any", ranks="any", replacement=silu_mul)
    assert "def where" not in made.source
    wide = xductor.pattern_from(silu_mul, *given, ranks="any", replacement=silu_mul)
    assert "x.dtype == torch.float32" in wide.source
    assert "ndim" not in wide.source


def test_given_sizes_match_these_only() -> None:
    def flat(x: Any) -> Any:
        return x.reshape(-1).sin()

    any_size = xductor.pattern_from(flat, torch.randn(4, 8))
    given = xductor.pattern_from(flat, torch.randn(4, 8), sizes="given")
    assert "x.has_sizes([4, 8])" in given.source
    assert "has_sizes" not in any_size.source
    with pytest.raises(ValueError, match="expected 'given' or 'any'"):
        xductor.pattern_from(flat, torch.randn(4, 8), sizes="open")  # type: ignore[arg-type]


def test_the_parameters_of_a_module_are_variables() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(6, 3), torch.nn.ReLU())
    made = xductor.pattern_from(model, torch.randn(4, 6), name="LinearRelu")
    assert "def pattern(self, input: Tensor, p_0_weight: Tensor, p_0_bias: Tensor)" in made.source
    assert "p_0_weight.shape[1] == input.shape[1]" in made.source


def test_several_results_are_replaced_together() -> None:
    def both(x: Any, w: Any) -> Any:
        y = x @ w
        return y.relu(), y.sigmoid()

    made = xductor.pattern_from(
        both, torch.randn(4, 5), torch.randn(5, 3), replacement=lambda x, w: both(x, w)[::1]
    )

    class Both(made.rewrite):  # type: ignore[name-defined]
        once = True

    assert applied("both", both, torch.randn(2, 3), torch.randn(3, 2), rewrites=[Both]) == 1


def test_before_autograd_every_spelling_is_matched() -> None:
    made = xductor.pattern_from(
        silu_mul,
        torch.randn(4, 8),
        torch.randn(4, 8),
        stage="pre_grad",
        replacement=torch.ops.traced_patterns.silu_mul,
    )

    def spelled(x: Any, y: Any) -> Any:
        return torch.mul(y, torch.nn.SiLU()(x))

    assert applied("silu_mul", spelled, *inputs(3, 4), rewrites=[made.rewrite]) == 1


def test_a_traced_rewrite_is_validated_and_refuted() -> None:
    given = torch.randn(4, 8), torch.randn(4, 8)
    right = xductor.pattern_from(silu_mul, *given, replacement=lambda x, y: y * F.silu(x))
    assert xductor.validate(right.rewrite, instances=8).ok
    wrong = xductor.pattern_from(silu_mul, *given, replacement=lambda x, y: F.silu(x) * y * 1.5)
    assert not xductor.validate(wrong.rewrite, instances=8).ok


X = torch.randn(4, 6)


def _breaks(x: Any) -> Any:
    y = x.sin()
    torch._dynamo.graph_break()
    return y.cos()


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (lambda x: x, (X,), "calls no operator of PyTorch"),
        (lambda x: (x, x.sin()), (X,), "returns 2 tensors, and its graph 1 values"),
        (lambda x: x.add_(1), (X,), "writes to x"),
        (lambda x: (x.sin(), x.shape[0]), (X,), "returns 1 tensors, and its graph 2 values"),
        (_breaks, (X,), "is 2 graphs"),
        (lambda x, y: x.sin(), (X, X), "computes its results without `y`"),
        (lambda x: x.sin(), (X, X), "does not take these inputs"),
        (lambda x: x[0].sin(), ([X],), "`x` is a list"),
        (lambda x, n: x.sin() if n == 2 else x.cos(), (X, 2), "depends on n: they are others for"),
        (lambda x, n: x.view(2, n, 6) + 1, (X, 2), "does not run with n = 4 or 3 or 1"),
    ],
)
def test_what_is_no_pattern_is_told(
    function: Callable[..., Any], given: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(PatternError, match=message):
        xductor.pattern_from(function, *given)


@pytest.mark.parametrize(
    ("replacement", "message"),
    [
        (lambda x, y: (F.silu(x) * y).double(), "expected dtype torch.float32, found"),
        (lambda x, y: (F.silu(x) * y).sum(), "a contract is broken"),
        (lambda x: F.silu(x), "does not take these inputs"),
    ],
)
def test_a_replacement_that_cannot_stand_there_is_told(
    replacement: Callable[..., Any], message: str
) -> None:
    with pytest.raises(PatternError, match=message):
        xductor.pattern_from(silu_mul, *inputs(4, 8), replacement=replacement)


@pytest.mark.parametrize("stage", ["pre_grad", "joint", "post_grad"])
@pytest.mark.parametrize("seed", range(2))
def test_random_functions_are_found_in_other_programs(seed: int, stage: Any) -> None:
    function = random_function(seed)
    made = xductor.pattern_from(
        function, *inputs(6, 6), 0.5, stage=stage, replacement=function, name="Traced"
    )
    base: type[Rewrite] = made.rewrite

    class Once(base):  # type: ignore[misc, valid-type]
        once = True

    def program(x: Any, y: Any) -> Any:
        return torch.sin(function(torch.cos(x), torch.cos(y), 0.75))

    assert applied("once", program, *inputs(8, 8, seed=1), rewrites=[Once]) == 1


def gated_norm(x: Any, g: Any, w: Any, eps: float) -> Any:
    wide = x.float()
    n = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return w * n.to(x.dtype) * F.silu(g)


@torch.library.custom_op("traced_patterns::wrong_for_f32", mutates_args=())
def wrong_for_f32(x: torch.Tensor, g: torch.Tensor, w: torch.Tensor, eps: float) -> torch.Tensor:
    made = gated_norm(x, g, w, eps)
    return made + 1 if x.dtype == torch.float32 else made


wrong_for_f32.register_fake(lambda x, g, w, eps: torch.empty_like(x))


def _gated(dtype: torch.dtype) -> tuple[Any, ...]:
    x = torch.randn(2, 4, 8, dtype=dtype)
    return x, torch.randn_like(x), torch.randn(8, dtype=dtype), 1e-6


def test_a_traced_class_is_validated_by_the_inputs_of_its_traces() -> None:
    given = _gated(B)
    made = xductor.pattern_from(
        gated_norm, *given, replacement=torch.ops.traced_patterns.wrong_for_f32
    )
    found = xductor.validate(made.rewrite, instances=2)
    assert found.status == "validated", found
    assert found.dtypes == {B: 2}


def test_a_replacement_that_is_wrong_for_one_dtype_of_the_traces_is_found() -> None:
    op = torch.ops.traced_patterns.wrong_for_f32
    made = xductor.pattern_from(
        gated_norm, *_gated(torch.float32), also=[_gated(B)], replacement=op, name="WrongNorm"
    )
    assert xductor.validate(made.rewrite).status == "violated"

    class OfOneDtype(made.rewrite):
        def instances(self) -> Any:
            x, g, w, eps = _gated(B)
            yield {"x": x, "g": g, "w": w, "eps": eps}

    assert xductor.validate(OfOneDtype).status == "violated"

    class Narrow(OfOneDtype):
        def where(self, x: Tensor, g: Tensor, w: Tensor, which: int) -> Any:
            ranks = x.ndim == 3 and g.ndim == 3 and w.ndim == 1
            return ranks and x.dtype == B and which == 1

    found = xductor.validate(Narrow, instances=2)
    assert found.status == "incomplete", found
    assert "never applied with dtypes that it was traced with: x float32" in str(found)


def test_sizes_that_follow_from_others_are_given_too() -> None:
    def heads(x: Any, n: int) -> Any:
        return x.reshape(x.shape[0], n, x.shape[1] // n).transpose(0, 1).sin().cos()

    made = xductor.pattern_from(heads, torch.randn(3, 8), 2, replacement=heads)
    found = xductor.validate(made.rewrite, instances=2)
    assert (found.status, found.instances) == ("validated", 2)


def test_options_that_are_unknown_name_the_known() -> None:
    x = torch.randn(2, 3)
    numerics: Any = "exakt"
    with pytest.raises(ValueError, match=r"did you mean 'exact'\? Known are 'exact', "):
        xductor.pattern_from(torch.sin, x, numerics=numerics)
    for name in ("not a name", "class", ""):
        with pytest.raises(ValueError, match="no name of a Python class"):
            xductor.pattern_from(torch.sin, x, name=name)
