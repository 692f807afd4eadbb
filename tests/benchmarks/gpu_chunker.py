"""What chunks of a loss over a vocabulary save on a GPU: memory and time of a training step.

    python -m tests.benchmarks.gpu_chunker

A linear head with a loss, in bfloat16, compiled by stock without chunks, by stock with
`auto_chunker.enable`, and by us with it; they take turns. A row for each loss and compiler: median
milliseconds, the peak of memory in MiB, and how far the weight's gradient is from stock's without
chunks, relative to its largest number.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from tests.benchmarks.gpu_timing import BACKENDS, Work, alternating, peak

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

LOSSES: dict[str, Loss] = {
    "cross entropy": F.cross_entropy,
    "cross entropy in float32": lambda x, y: F.cross_entropy(x.float(), y),
    "label smoothing": lambda x, y: F.cross_entropy(x.float(), y, label_smoothing=0.1),
}
_CHUNKS = {"auto_chunker.enable": True}
#: Who compiles, and with which options.
WHO: dict[str, tuple[str, dict[str, Any]]] = {
    "stock": ("stock", {"auto_chunker.enable": False}),
    "stock, chunks": ("stock", _CHUNKS),
    "ours, chunks": ("ours", _CHUNKS),
    "ours, chunks, fast": ("ours", {**_CHUNKS, "xductor.numerics": "fast"}),
}


class _Head(torch.nn.Module):
    """The last layer of a language model, with a loss."""

    def __init__(self, hidden: int, vocabulary: int, loss: Loss) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(hidden)
        self.head = torch.nn.Linear(hidden, vocabulary, bias=False)
        self.loss = loss

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.loss(self.head(self.norm(x)), y)


def _step(model: Any, who: str, inputs: tuple[Any, Any]) -> Work:
    """A training step of a model, compiled at its first call.

    With options, not under a patched config, which Dynamo does not tell apart.
    """
    backend, options = WHO[who]
    compiled: Any = torch.compile(model, backend=BACKENDS[backend], options=options)

    def step() -> None:
        model.zero_grad(set_to_none=True)
        compiled(*inputs).backward()

    return step


def _row(loss: Loss, options: argparse.Namespace) -> dict[str, tuple[float, float, float]]:
    """Milliseconds, MiB and error of each of those who compile."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    x = torch.randn(options.rows, options.hidden, device=options.device, dtype=torch.bfloat16)
    y = torch.randint(options.vocabulary, (options.rows,), device=options.device)
    model = _Head(options.hidden, options.vocabulary, loss)
    model = model.to(device=options.device, dtype=torch.bfloat16)
    steps: dict[str, Work] = {}
    memory: dict[str, float] = {}
    gradients: dict[str, torch.Tensor] = {}
    for who in WHO:
        step = steps[who] = _step(model, who, (x.requires_grad_(), y))
        step()
        memory[who] = peak(step, options.device)
        assert model.head.weight.grad is not None
        gradients[who] = model.head.weight.grad.float().cpu()
    right = gradients["stock"]
    times = alternating(steps, options.rounds, options.device)
    return {
        who: (times[who], memory[who], float((grad - right).abs().max() / right.abs().max()))
        for who, grad in gradients.items()
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=16384)
    parser.add_argument("--hidden", type=int, default=768)
    parser.add_argument("--vocabulary", type=int, default=50304)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    options = parser.parse_args(argv)
    print("| loss | who | ms | MiB | error |")
    print("| --- | --- | --- | --- | --- |", flush=True)
    for name, loss in LOSSES.items():
        for who, (time, memory, error) in _row(loss, options).items():
            print(f"| {name} | {who} | {time:.2f} | {memory:.0f} | {error:.1e} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
