"""Makes the pictures of reports in `docs/pictures`: `python -m tests.backend.report.pictures`.

Needs a Chromium and transformers; nothing is downloaded. Five compiles are shown: the training of
a small GPT-2, a graph of 5,000 ops, one in which a pattern becomes a custom op, one with a pass
that fails, and one in which attention and a rewrite nearly match.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from tests.backend.report.browser import screenshot

ROOT = Path(__file__).resolve().parents[3]
PICTURES = ROOT / "docs" / "pictures"

_WITHOUT_CODE = "from xductor.backend.run_as_fx.without_codegen import without_codegen\n"

TRAIN = f"""\
import torch
import transformers
{_WITHOUT_CODE}
config = transformers.GPT2Config(
    n_layer=2, n_embd=64, n_head=4, vocab_size=500, n_positions=64, bos_token_id=0, eos_token_id=0,
    attn_implementation="eager", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
)
model = transformers.GPT2Model(config)
ids = torch.randint(0, 500, (2, 16))
with without_codegen():
    torch.compile(model, backend="xductor")(ids).last_hidden_state.sum().backward()
"""

LARGE = f"""\
import torch
{_WITHOUT_CODE}

def layers(x, w):
    for _ in range(625):
        x = (x.sin() * w + 1).t().t()
        x = (x.relu() - w).cos()
    return x

with without_codegen():
    torch.compile(layers, backend="xductor")(torch.randn(8, 8), torch.randn(8, 8))
"""

FALLS_BACK = f"""\
import warnings

import torch
from xductor.transforms.rows import registry
{_WITHOUT_CODE}
warnings.simplefilter("ignore")


def rewrite(self, module):
    (scale,) = [op for op in module.walk() if op.name == "aten.mul.Scalar"]
    return 1


# A pass of the joint stage, with a mistake.
registry.typed_class("pointless_permute_pair").rewrite = rewrite


def gate(x, w, b):
    y = x.t().t() @ w + b.view(8).view(8)
    return torch.sigmoid(y) * y.clone()


with without_codegen():
    torch.compile(gate, backend="xductor")(torch.randn(8, 8), torch.randn(8, 8), torch.randn(8))
"""

GATED = f"""\
import torch
import torch.nn.functional as F
import xductor
{_WITHOUT_CODE}

@torch.library.custom_op("mylib::gated", mutates_args=())
def gated(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.silu(x) * y  # your kernel


gated.register_fake(lambda x, y: torch.empty_like(x))


def block(x, up, gate, down):
    hidden = F.silu(x @ gate) * (x @ up)
    return x + (hidden @ down).t().t()


rewrite = xductor.pattern_from(
    lambda x, y: F.silu(x) * y, torch.randn(4, 8), torch.randn(4, 8),
    replacement=torch.ops.mylib.gated, name="Gated",
).rewrite
with without_codegen():
    compiled = torch.compile(block, backend="xductor", options={{"xductor.rewrites": [rewrite]}})
    compiled(torch.randn(4, 8), torch.randn(8, 32), torch.randn(8, 32), torch.randn(32, 8))
"""


NEAR = f"""\
import torch
import xductor
from xductor import Rewrite, Tensor
from xductor.ir import aten
{_WITHOUT_CODE}

class SwiGLU(Rewrite):
    stage = "post_grad"

    def pattern(self, x: Tensor, y: Tensor):
        return aten.mul(aten.mul(x, aten.sigmoid(x)), y)

    def replacement(self, x: Tensor, y: Tensor):
        return aten.mul(x, aten.mul(aten.sigmoid(x), y))


def block(q, k, v, up, gate):
    scores = q @ k.transpose(-2, -1) * 0.125
    scores = 50 * torch.tanh(scores / 50)
    x = torch.softmax(scores, -1) @ v
    hidden = x @ gate
    active = hidden * torch.sigmoid(hidden)
    return active * (x @ up), active.sum()


q, k, v = (torch.randn(2, 4, 16, 8) for _ in range(3))
with without_codegen():
    compiled = torch.compile(block, backend="xductor", options={{"xductor.rewrites": [SwiGLU]}})
    compiled(q, k, v, torch.randn(8, 8), torch.randn(8, 8))
"""


def _block(folder: Path) -> None:
    page = _page(folder, "block", GATED)
    sections, opened = ("post_grad", "Your code"), ("rewrites",)
    _picture(page, "report-pass", height=850, only=sections, opened=opened)


def _train(folder: Path) -> None:
    page = _page(folder, "train", TRAIN)
    _picture(page, "report", height=1010)
    opened = ("fuse_attention",)
    _picture(page, "report-gpt2", height=900, only=("pre_grad",), opened=opened)
    _narrow(page, "report-narrow", height=900)


def _large(folder: Path) -> None:
    page = _page(folder, "large", LARGE)
    opened = ("pointless_permute_pair",)
    _picture(page, "report-large", height=640, only=("joint",), opened=opened)


def _gate(folder: Path) -> None:
    page = _page(folder, "gate", FALLS_BACK)
    _picture(page, "report-fallback", height=1180, hidden="#times")


def _near(folder: Path) -> None:
    page = _page(folder, "near", NEAR)
    opened = ("Near misses",)
    _picture(page, "report-near", height=980, only=("pre_grad", "post_grad"), opened=opened)


_PAGES = {"block": _block, "near": _near, "train": _train, "large": _large, "gate": _gate}


def main() -> None:
    """Make the pictures of the pages named on the command line, or all."""
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or _PAGES:
        with tempfile.TemporaryDirectory(prefix="xductor-pictures-") as folder:
            _PAGES[name](Path(folder))


def _page(folder: Path, name: str, script: str) -> Path:
    """The first page that a script leaves, without the paths of this machine."""
    path, pages = folder / f"{name}.py", folder / name
    path.write_text(script)
    environment = {
        **os.environ,
        "XDUCTOR_REPORT": str(pages),
        "XDUCTOR_DEBUG_DIR": str(pages / "reproducers"),
    }
    subprocess.run([sys.executable, path.name], cwd=folder, env=environment, check=True)
    page = min(pages.glob("*.html"))
    text = page.read_text(encoding="utf-8")
    for ours, shown in (
        (str(Path(torch.__file__).parents[1]), "site-packages"),
        (str(ROOT), "xductor"),
        (f"{folder}/", ""),
    ):
        text = text.replace(ours, shown)
    page.write_text(text, encoding="utf-8")
    return page


def _picture(
    page: Path,
    name: str,
    *,
    height: int,
    only: tuple[str, ...] = (),
    hidden: str = "",
    opened: tuple[str, ...] = (),
) -> None:
    """A picture of a page, with some steps opened; of some sections only, if such are given."""
    script = f"""
    for (const step of document.querySelectorAll("details"))
      step.open = step.open || {list(opened)}.includes(step.querySelector(".name")?.textContent);
    const only = {list(only)};
    if (only.length) for (const part of document.querySelectorAll("main > *"))
      if (!only.some((title) => part.querySelector("h2")?.textContent.startsWith(title)))
        part.remove();
    """
    hidden = hidden or ("header" if only else "")
    style = f"<style>{hidden} {{ display: none }}</style>" if hidden else ""
    shown = page.with_name(f"{name}.htm")
    text = page.read_text(encoding="utf-8").replace("</head>", f"{style}</head>", 1)
    shown.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    screenshot(shown, PICTURES / f"{name}.png", width=1300, height=height)


def _narrow(page: Path, name: str, *, height: int) -> None:
    """A page 400 pixels wide, light and dark."""
    frames = "".join(
        f'<iframe src="{page.name}" width="400" height="{height}" '
        f'style="border: 0; margin: 0; color-scheme: {scheme}"></iframe>'
        for scheme in ("light", "dark")
    )
    both = page.with_name(f"{name}.htm")
    both.write_text(f'<body style="margin: 0; display: flex">{frames}</body>', encoding="utf-8")
    screenshot(both, PICTURES / f"{name}.png", width=800, height=height)


if __name__ == "__main__":
    main()
