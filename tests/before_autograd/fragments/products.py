"""Fragments for the passes over matrix products, convolutions and attention."""

from __future__ import annotations

from collections.abc import Mapping

from tests.before_autograd.fragments.fragment import Entry, Fragment

EMBEDDED: Mapping[str, tuple[int, ...]] = {"x": (2, 3, 4), "w": (5, 3), "b": (5,)}
CATTED: Mapping[str, tuple[int, ...]] = {"x": (2, 3, 4), "y": (2, 2, 4), "w": (6, 5), "b": (6,)}
BATCH: Mapping[str, tuple[int, ...]] = {"x": (2, 3, 4), "w": (5, 4), "v": (5, 3), "b": (5,)}
CONV: Mapping[str, tuple[int, ...]] = {
    "x": (2, 3, 5, 5),
    "w": (4, 3, 3, 3),
    "b": (4,),
    "mean": (4,),
    "scale": (4,),
}
HEADS: Mapping[str, tuple[int, ...]] = {"q": (2, 3, 16, 8), "k": (2, 3, 16, 8), "v": (2, 3, 16, 8)}

_UNTURNED = (
    "Neither the input nor the result is transposed, so neither is copied: the weight is the left "
    "operand of one product."
)
_SMALL = (
    "It is a batch of products instead of one large one: for a large batch of small matrices a "
    "library may be faster with the one. Inductor has the name alone, so that it is off by "
    "default."
)
_TURNED = "A product reads a transposed operand as it is; a linear would get a copy of it."
_NOT_ON_CPU = "It runs on GPUs alone, under `permute_fusion`."


def _lce(bias: bool) -> list[Fragment]:
    more = ", b" if bias else ""
    by_name = ", bias=b" if bias else ""
    return [
        Fragment(
            f"""
            y = torch.transpose(x, 1, 2)
            y = torch.nn.functional.linear(y, w{more})
            return torch.transpose(y, 1, 2).sum(-1)
            """
        ),
        Fragment(f"F.linear(x.permute(0, 2, 1), w{by_name}).permute(0, 2, 1).sum(-1)"),
        Fragment(f"F.linear(x.transpose(-1, -2), w{more}).transpose(-2, -1).sum(-1)"),
        Fragment(f"F.linear(x.mT, weight=w{by_name}).mT.sum(-1)"),
        Fragment(f"F.linear(x.swapaxes(1, 2), w{more}).swapdims(-1, 1).sum(-1)"),
        Fragment(f"aten.linear(torch.permute(x, (0, -1, 1)), w{more}).permute(0, -1, -2).sum(-1)"),
        Fragment(f"torch.movedim(F.linear(torch.movedim(x, 1, 2), w{more}), -1, 1).sum(-1)"),
    ]


def _first() -> list[Fragment]:
    return [
        Fragment(
            """
            z = torch.cat([x, y], dim=1)
            z = torch.nn.functional.linear(torch.transpose(z, 1, 2), w)
            return torch.transpose(z, 1, 2).sum(-1)
            """
        ),
        Fragment("F.linear(torch.concat((x, y), axis=-2).permute(0, 2, 1), w, b).mT.sum(-1)"),
        Fragment("F.linear(torch.cat([x, y], 1).transpose(-1, -2), w).transpose(-2, -1).sum(-1)"),
        Fragment("F.linear(aten.cat([x, y], 1).mT, weight=w, bias=b).mT.sum(-1)"),
        Fragment(
            "F.linear(torch.concatenate([x, y], -2).swapaxes(2, 1), w).permute(0, -1, 1).sum(-1)"
        ),
    ]


LCES = (
    Entry(
        "use_triton_lce_replace_simple_LCE",
        EMBEDDED,
        _lce(False),
        _UNTURNED,
        _SMALL,
        tolerance=1e-5,
    ),
    Entry(
        "use_triton_lce_replace_normal_LCE",
        EMBEDDED,
        _lce(True),
        _UNTURNED,
        _SMALL,
        tolerance=1e-5,
    ),
    Entry(
        "use_matmul_lce_replace_normal_LCE",
        EMBEDDED,
        [*_lce(True)[:4], *_lce(False)[:4]],
        _UNTURNED,
        _SMALL,
        tolerance=1e-5,
    ),
    Entry(
        "use_matmul_fuse_lce_replace_first_LCE",
        CATTED,
        _first(),
        _UNTURNED,
        _SMALL,
        tolerance=1e-5,
    ),
    Entry(
        "use_triton_dot_compress",
        {"x": (2, 8, 2), "w": (8, 3)},
        [
            Fragment(
                """
                square = torch.matmul(x, torch.transpose(x, 1, 2))
                return torch.matmul(square, w) + 1
                """
            ),
            Fragment("x @ x.mT @ w + 1"),
            Fragment("torch.bmm(x, x.transpose(-2, -1)).matmul(w) + 1"),
            Fragment("x.matmul(x.permute(0, 2, 1)) @ w + 1"),
            Fragment("torch.matmul(x @ x.swapaxes(-1, 1), w) + 1"),
            Fragment("torch.bmm(x, torch.permute(x, (0, -1, 1))) @ w + 1"),
        ],
        "The product of the input with itself, which has a row and a column for each of its rows, "
        "is never made. It rounds otherwise, and runs under `fast` alone.",
        "If there are few rows beside columns, the square is the smaller of both; sizes are asked.",
        numerics="fast",
        tolerance=1e-5,
    ),
)

LINEARS = (
    Entry(
        "fuse_parallel_linear_pass",
        {"x": (64, 6), "w": (3, 6), "v": (2, 6), "b": (3,), "c": (2,)},
        [
            Fragment(
                """
                q = torch.nn.functional.linear(x, w, b)
                k = torch.nn.functional.linear(x, v, c)
                return q.sin(), k.cos()
                """
            ),
            Fragment("(x @ w.t()).sin(), torch.matmul(x, v.T).cos()"),
            Fragment("F.linear(x, w, bias=b).sin(), aten.linear(x, v, c).cos()"),
            Fragment("x.mm(w.mT).sin(), torch.mm(x, mat2=torch.t(v)).cos()"),
            Fragment("torch.addmm(b, x, w.t()).sin(), F.linear(x, v).cos()"),
        ],
        "The input is read once, and one product is larger and so nearer to what the machine can "
        "do.",
        "The weights are put together in each call, unless they are frozen: for few rows that "
        "costs more than it saves, and the pass asks the sizes.",
        tolerance=1e-5,
    ),
    Entry(
        "fuse_split_linear_add_pass",
        {"x": (64, 6), "w": (3, 2), "v": (3, 4), "b": (3,)},
        [
            Fragment(
                """
                left, right = torch.split(x, [2, 4], dim=1)
                left = torch.nn.functional.linear(left, w, b)
                return (left + torch.nn.functional.linear(right, v)) * 2
                """
            ),
            Fragment("(F.linear(x[:, :2], w) + F.linear(x[:, 2:], v, bias=b)) * 2"),
            Fragment("torch.add(x.narrow(1, 0, 2) @ w.t(), torch.narrow(x, -1, 2, 4) @ v.T) * 2"),
            Fragment(
                "p = x.split((2, 4), -1); return F.linear(p[1], v).add(F.linear(p[0], w)) * 2"
            ),
            Fragment("torch.addmm(b, x[..., :2], w.mT) + torch.matmul(x[..., 2:], v.t())"),
            Fragment("sum([F.linear(one, v[:, :3]) for one in x.chunk(2, -1)]) * 2"),
        ],
        "One product that adds up as it goes, and no sum of results.",
        "The weights are put together in each call, unless they are frozen; the pass asks the "
        "sizes.",
        tolerance=1e-5,
    ),
    Entry(
        "linear_permute_fusion",
        BATCH,
        [
            Fragment("torch.nn.functional.linear(x, w, b).permute(0, 2, 1).sum(-1)", stock=1),
            Fragment("F.linear(x, w).transpose(-1, -2).sum(-1)"),
            Fragment("torch.transpose(F.linear(x, weight=w, bias=b), 1, 2).sum(-1)"),
            Fragment("aten.linear(x, w).mT.sum(-1)"),
            Fragment("F.linear(x, w, bias=b).swapaxes(2, 1).sum(-1)"),
            Fragment("torch.permute(F.linear(x, w), (0, -1, 1)).sum(-1)"),
        ],
        _TURNED,
        _NOT_ON_CPU,
        alone=True,
        tolerance=1e-5,
    ),
    Entry(
        "permute_linear_fusion",
        BATCH,
        [
            Fragment("torch.nn.functional.linear(x.permute(0, 2, 1), v, b) + 1", stock=1),
            Fragment("F.linear(x.transpose(-1, -2), v) + 1"),
            Fragment("F.linear(torch.transpose(x, 1, 2), weight=v, bias=b) + 1"),
            Fragment("aten.linear(x.mT, v) + 1"),
            Fragment("F.linear(x.swapdims(2, 1), v, bias=b) + 1"),
            Fragment("F.linear(torch.permute(x, (0, -1, 1)), v) + 1"),
        ],
        _TURNED,
        _NOT_ON_CPU,
        alone=True,
        tolerance=1e-5,
    ),
    Entry(
        "permute_matmul_fusion",
        {"x": (2, 3, 4), "y": (2, 3, 5), "z": (2, 5, 4)},
        [
            Fragment("torch.matmul(x.permute(0, 2, 1), y) + 1", stock=1),
            Fragment("x @ torch.permute(z, (0, -1, 1)) + 1"),
            Fragment("torch.bmm(x.permute([0, 2, 1]), y) + 1"),
            Fragment("x.permute(0, -1, -2).matmul(y) + 1"),
            Fragment("aten.bmm(x, aten.permute(z, [0, 2, 1])) + 1"),
        ],
        "A transpose tells later stages that the operand is read as it is.",
        _NOT_ON_CPU,
        alone=True,
        tolerance=1e-5,
    ),
    Entry(
        "einsum_to_pointwise_pass",
        {"x": (2, 3, 4), "w": (2, 3, 4, 5), "b": (5,)},
        [
            Fragment('torch.einsum("bni,bnio->bno", x, w) + b', stock=1),
            Fragment('torch.functional.einsum("abc, abcd -> abd", x, w).add(b)', stock=1),
            Fragment('torch.add(torch.einsum("bni,bnio->bno", [x, w]), b)'),
            Fragment('b + aten.einsum("xyz,xyzw->xyw", [x, w])'),
            Fragment('torch.einsum("bni,bnio->bno", (x, w)) + b'),
        ],
        "The sum fuses with what is added to it; a batch of products of one row each does not.",
        "If nothing is added to the result it is left alone, and it is more work for wide rows.",
        tolerance=1e-5,
    ),
)

OTHERS = (
    Entry(
        "efficient_conv_bn_eval_pass",
        CONV,
        [
            Fragment(
                """
                y = torch.nn.functional.conv2d(x, w, b)
                return torch.nn.functional.batch_norm(y, mean, scale * scale + 1, scale, b)
                """,
                stock=1,
            ),
            Fragment(
                "F.batch_norm(torch.conv2d(x, weight=w, bias=b), mean, scale.exp()) + 1", stock=None
            ),
            Fragment(
                """
                y = F.conv2d(x, w, padding=1)
                return F.batch_norm(input=y, running_mean=mean, running_var=b.exp())
                """,
                stock=1,
            ),
            Fragment(
                """
                y, var = F.conv2d(x, w), scale.exp()
                return torch.batch_norm(y, b, None, mean, var, False, 0.1, 1e-5, True)
                """
            ),
            Fragment(
                """
                y, var = aten.conv2d(x, w, b), b.exp()
                return aten.batch_norm(y, b, None, mean, var, False, 0.1, 1e-5, True)
                """
            ),
            Fragment(
                """
                y = F.linear(x[:, :, 0, 0], w[:, :, 0, 0], b)
                return F.batch_norm(y, mean, scale.exp(), b, scale)
                """,
                stock=1,
            ),
        ],
        "A norm in evaluation is a factor and a summand for each channel, which go into the "
        "weight: one convolution instead of two calls, in training too, if the statistics are "
        "frozen.",
        "If the result of the convolution is read by something else as well. For few pixels the "
        "new weight costs more than the norm. The same pass folds calls of modules "
        "(`fuse_conv_bn` and `remove_identity`, when freezing) and of operators.",
        asks=False,
        tolerance=1e-4,
    ),
    Entry(
        "apply_gumbel_max_trick_pass",
        {"x": (4, 6)},
        [
            Fragment(
                """
                probs = torch.nn.functional.softmax(x, dim=-1)
                noise = torch.empty_like(x).exponential_(1)
                return torch.argmax(probs / noise, dim=-1, keepdim=True)
                """,
                stock=1,
            ),
            Fragment(
                """
                p = x.softmax(1)
                return (p / torch.empty_like(p).exponential_(1)).argmax(-1, keepdim=True)
                """
            ),
            Fragment(
                """
                p = torch.softmax(x, -1)
                return p.div(torch.empty_like(x).exponential_()).argmax(dim=1)
                """
            ),
            Fragment(
                """
                p = F.softmax(x, dim=1)
                noise = torch.empty_like(p).exponential_(lambd=1)
                return torch.argmax(torch.div(p, noise), axis=-1)
                """
            ),
            Fragment(
                """
                p = aten.softmax(x, -1)
                return aten.argmax(p / torch.empty_like(p).exponential_(1), -1)
                """
            ),
        ],
        "No softmax, so that the row is read once. It may pick another element where "
        "probabilities round to zero, and runs under `fast` alone.",
        "It always pays.",
        asks=False,
        numerics="fast",
        tolerance=float("inf"),
    ),
    Entry(
        "fuse_attention",
        HEADS,
        [
            Fragment(
                """
                scores = torch.matmul(q, k.transpose(-2, -1)) / 2.0
                return torch.matmul(torch.softmax(scores, dim=-1), v)
                """
            ),
            Fragment("F.softmax(q @ k.mT * 0.5, -1) @ v"),
            Fragment(
                """
                scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / 2
                return torch.einsum("bhqk,bhkd->bhqd", scores.softmax(-1), v)
                """
            ),
            Fragment("(q.mul(0.5) @ k.permute(0, 1, 3, 2)).softmax(dim=3).matmul(v)"),
            Fragment("torch.special.softmax(q.matmul(k.swapaxes(-1, -2)).div(2), -1) @ v"),
        ],
        "The scores, of which there are a query times a key for each head, are never stored.",
        "For short sequences the kernel is slower than the calls; on each device the pass asks "
        "what was measured. See [attention](attention.md).",
        tolerance=1e-5,
    ),
)

ENTRIES = (*LCES, *LINEARS, *OTHERS)
