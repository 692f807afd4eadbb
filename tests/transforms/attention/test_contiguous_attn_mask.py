"""Masks of attention that no fused kernel reads as they lie."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._inductor import config as inductor_config

import xductor
from xductor.backend.records import stage_records
from xductor.ir import parse_ir
from xductor.transforms.attention import costs
from xductor.transforms.pre_grad import contiguous_attn_mask
from xductor.transforms.rewriting.driver import Driver, RewriteIndex, watching

_SHAPE = (8, 16, 128, 64)


def _biased(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, table: torch.Tensor, dropout: float = 0.0
) -> torch.Tensor:
    """Attention with a bias whose heads are its last dim in memory, as T5 has it."""
    bias = table.permute(2, 0, 1).unsqueeze(0)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=dropout, scale=1.0)
    return out.transpose(1, 2).reshape(q.shape[0], q.shape[2], -1)


def _plain(q: Any, k: Any, v: Any, table: Any) -> Any:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=table.permute(2, 0, 1).unsqueeze(0))


def _contiguous(q: Any, k: Any, v: Any, mask: Any) -> Any:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def test_values_on_a_cpu() -> None:
    """There it does not run, and what it would change is said."""
    q, k, v = torch.randn(3, *_SHAPE)
    table = torch.randn(128, 128, 16)
    why = xductor.explain("contiguous_attn_mask", _biased, q, k, v, table)
    assert "it runs on cuda only" in str(why)
    compiled = torch.compile(_biased, backend="xductor", options={"xductor.on_error": "raise"})
    torch.testing.assert_close(compiled(q, k, v, table), _biased(q, k, v, table))
    assert xductor.last_compile().count("contiguous_attn_mask") == 0


@pytest.mark.parametrize(
    ("symbol", "rows"),
    [
        ("positive [2, int_oo] hint 128", 128),
        ("positive [2, int_oo] hint 49", 49),
        ("unbacked size_like [2, int_oo]", None),
    ],
)
def test_symbolic_sizes(symbol: str, rows: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The costs are those of the sizes that were traced; of others nothing is known."""
    judged: list[Any] = []

    def refusal_by_cost(request: Any, slower: float, seen: Any) -> str | None:
        judged.append(seen(request.query.shape[2]))
        return costs.refusal_by_cost(request, slower, seen)

    monkeypatch.setattr(contiguous_attn_mask, "refusal_by_cost", refusal_by_cost)
    module = parse_ir(f"""
fx.graph @forward stage(pre_grad) symbols(s0 : int {symbol}) (
    %q : !fx.tensor<bf16[8, 16, s0, 64], cpu>,
    %m : !fx.tensor<bf16[1, 16, s0, s0][16, 1, 16*s0, 16], cpu>) {{
  %a = pyfn.torch._C._nn.scaled_dot_product_attention %q, %q, %q, attn_mask = %m :
    !fx.tensor<bf16[8, 16, s0, 64], cpu>
  fx.output %a
}}
""")
    with watching(any_device=True):
        rewrites = RewriteIndex([contiguous_attn_mask.ContiguousAttnMask()])
        assert Driver(rewrites).rewrite(module) == 1
    assert set(judged) == {rows}


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
class TestOnAGPU:
    def _run(self, function: Any, *given: Any, **options: Any) -> tuple[torch.Tensor, int]:
        torch._dynamo.reset()
        options = {"xductor.on_error": "raise", **options}
        compiled = torch.compile(function, backend="xductor", options=options)
        with stage_records.record() as records:
            found = compiled(*given)
        return found, sum(record.applications("contiguous_attn_mask") for record in records)

    def _given(self, dtype: torch.dtype = torch.bfloat16, grad: bool = False) -> list[Any]:
        torch.manual_seed(0)
        q, k, v = (torch.randn(_SHAPE, device="cuda", dtype=dtype) for _ in range(3))
        table = torch.randn(128, 128, 16, device="cuda", dtype=dtype)
        return [*(one.requires_grad_(grad) for one in (q, k, v)), table]

    def test_values(self) -> None:
        given = self._given()
        with torch.no_grad():
            found, count = self._run(_biased, *given)
        wanted = _biased(*(one.double() for one in given))
        assert count == 1
        before = (_biased(*given).double() - wanted).abs().max()
        assert (found.double() - wanted).abs().max() <= 2 * before

    @pytest.mark.parametrize("learns", [False, True])
    def test_gradients(self, learns: bool) -> None:
        """They are as near to those in float64 as the kernel's with a mask that lies well."""
        given = self._given(grad=True)
        given[3].requires_grad_(learns)
        found, count = self._run(_biased, *given)
        assert count == 1

        def gradients(result: torch.Tensor, inputs: list[Any]) -> list[torch.Tensor]:
            wanted = [one for one in inputs if one.requires_grad]
            loss = result.double().square().sum()
            return [one.double() for one in torch.autograd.grad(loss, wanted)]

        def laid_well(q: Any, k: Any, v: Any, table: Any) -> Any:
            bias = table.permute(2, 0, 1).contiguous().unsqueeze(0)
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=1.0)
            return out.transpose(1, 2).reshape(q.shape[0], q.shape[2], -1)

        exact = [one.detach().double().requires_grad_(one.requires_grad) for one in given]
        right = gradients(_biased(*exact), exact)
        kernel = gradients(laid_well(*given), given)
        for one, other, best in zip(gradients(found, given), kernel, right, strict=True):
            assert (one - best).abs().max() <= 2 * (other - best).abs().max()

    def test_dropout_draws_as_eager_does_if_it_has_to(self) -> None:
        given = [*self._given(grad=True), 0.1]
        assert self._run(_biased, *given)[1] == 1
        with inductor_config.patch(fallback_random=True):
            assert self._run(_biased, *given)[1] == 0

    def test_what_stays(self) -> None:
        """A mask that lies well, and float32 without tf32."""
        q, k, v, _ = self._given()
        mask = torch.randn(1, 16, 128, 128, device="cuda", dtype=q.dtype)
        with torch.no_grad():
            assert self._run(_contiguous, q, k, v, mask)[1] == 0
            assert self._run(_biased, *self._given(torch.float32))[1] == 0

    def test_what_reads_the_layout(self) -> None:
        """The result is returned as the product would be laid out."""
        q, k, v, table = self._given()
        with torch.no_grad():
            found, count = self._run(_plain, q, k, v, table)
        assert count == 1
        assert found.stride() == _plain(q, k, v, table).stride()
