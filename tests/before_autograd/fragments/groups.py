"""Fragments for the group fusions, of which each makes one call of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.before_autograd.fragments.fragment import Entry, Fragment

X: Mapping[str, tuple[int, ...]] = {"x": (4, 6)}
TWO: Mapping[str, Any] = {"min_fuse_set_size": 2}

_ONE_KERNEL = (
    "One call instead of one for each; where each would be a kernel of its own, as a matrix "
    "product is, one kernel instead of several small ones."
)
_POINTWISE = (
    "One call instead of one for each. Inductor fuses pointwise calls with what they read anyway, "
    "so that it gains little by itself, but it lets calls above and below be grouped too."
)
_COPIED = (
    "The operands are stacked, which copies them: for large tensors that costs more than a kernel "
    "saves. A group has `min_fuse_set_size` members (5, unless the option says otherwise)."
)


def _pointwise(name: str, ways: tuple[str, ...], stock: tuple[int, ...] = (1,)) -> Entry:
    """Two calls side by side: of the first way twice, then of the first with each other one."""
    made = [(ways[0], ways[0]), *[(ways[0], way) for way in ways[1:]]]
    counts = (*stock, *[0] * (len(ways) - len(stock)))
    texts = [
        f"a = {one.replace('@', '(x + 1)')}; b = {other.replace('@', '(x * 3)')}; return a * b * x"
        for one, other in made
    ]
    first = texts[0].replace("; ", "\n")
    fragments = [
        Fragment(text, stock=count) for text, count in zip((first, *texts[1:]), counts, strict=True)
    ]
    return Entry(name, X, fragments, _POINTWISE, _COPIED, TWO)


ENTRIES = (
    Entry(
        "batch_linear_lhs",
        {"x": (4, 6), "w": (3, 6), "v": (2, 6), "b": (3,), "c": (2,)},
        [
            Fragment(
                """
                a = torch.nn.functional.linear(x, w, b)
                d = torch.nn.functional.linear(x, v, c)
                return a.sin(), d.cos()
                """,
                stock=1,
            ),
            Fragment("F.linear(x, w).sin(), F.linear(input=x, weight=v).cos()", stock=1),
            Fragment("F.linear(x, w, bias=b).sin(), aten.linear(x, v, c).cos()"),
            Fragment("torch._C._nn.linear(x, w).sin(), F.linear(x, v).cos()", stock=1),
            Fragment("F.linear(x, w, b).sin(), F.linear(x, v, bias=c).cos(), x + 1", stock=1),
        ],
        _ONE_KERNEL,
        "The weights are put together in each call, unless they are frozen: for few rows of the "
        "input that costs more than a product saves.",
        TWO,
        tolerance=1e-5,
    ),
    Entry(
        "batch_linear",
        {"x": (4, 6), "y": (4, 6), "w": (3, 6), "v": (3, 6), "b": (3,), "c": (3,)},
        [
            Fragment(
                """
                a = torch.nn.functional.linear(x, w, b)
                d = torch.nn.functional.linear(y, v, c)
                return a.sin() * d.cos()
                """,
                stock=1,
            ),
            Fragment("F.linear(x, w).sin() * F.linear(input=y, weight=v)", stock=1),
            Fragment("F.linear(x, w, bias=b).sin() * aten.linear(y, v, c)"),
            Fragment("torch._C._nn.linear(x, w).sin() * F.linear(y, v)", stock=1),
            Fragment("F.linear(x, w, b) + F.linear(y, weight=v, bias=c)", stock=1),
        ],
        _ONE_KERNEL,
        _COPIED,
        TWO,
        tolerance=1e-5,
    ),
    Entry(
        "batch_layernorm",
        {"x": (4, 6), "y": (4, 6), "w": (6,), "b": (6,)},
        [
            Fragment(
                """
                a = torch.nn.functional.layer_norm(x, (6,), w, b)
                c = torch.nn.functional.layer_norm(y, (6,), b, w)
                return a.sin() * c
                """,
                stock=1,
            ),
            Fragment("F.layer_norm(x, [6]).sin() * torch.layer_norm(y, (6,))"),
            Fragment("F.layer_norm(x, (6,), weight=w).sin() * F.layer_norm(y, [6], b)"),
            Fragment("F.layer_norm(x, (6,), w, b, 1e-5).sin() * aten.layer_norm(y, [6], b, w)"),
            Fragment(
                "F.layer_norm(input=x, normalized_shape=(6,), eps=1e-5) * torch.layer_norm(y, [6])"
            ),
        ],
        _ONE_KERNEL,
        _COPIED,
        TWO,
        tolerance=1e-5,
    ),
    _pointwise("batch_tanh", ("torch.tanh(@)", "@.tanh()", "F.tanh(@)", "aten.tanh(@)")),
    _pointwise(
        "batch_sigmoid",
        (
            "torch.sigmoid(@)",
            "@.sigmoid()",
            "F.sigmoid(@)",
            "torch.special.expit(@)",
            "aten.sigmoid(@)",
        ),
    ),
    _pointwise("batch_relu", ("F.relu(@)", "torch.relu(@)", "@.relu()", "aten.relu(@)")),
    _pointwise(
        "batch_detach",
        ("@.detach()", "torch.detach(@)", "Tensor.detach(@)", "aten.detach(@)"),
        (1, 1, 1),
    ),
    _pointwise(
        "batch_nan_to_num",
        (
            "torch.nan_to_num(@, 0.5, 2.0)",
            "@.nan_to_num(nan=0.5, posinf=2.0)",
            "torch.nan_to_num(input=@, posinf=2.0, nan=0.5)",
            "aten.nan_to_num(@, 0.5, 2.0)",
        ),
    ),
    _pointwise(
        "batch_clamp",
        (
            "torch.clamp(@, -1, 1)",
            "@.clamp(max=1, min=-1)",
            "torch.clip(@, min=-1, max=1)",
            "@.clip(-1, 1)",
            "aten.clamp(@, -1, 1)",
        ),
    ),
    _pointwise(
        "batch_dropout",
        (
            "F.dropout(@, 1e-9)",
            "torch.dropout(@, 1e-9, True)",
            "F.dropout(input=@, p=1e-9, training=True)",
            "aten.dropout(@, 1e-9, True)",
        ),
    ),
)
