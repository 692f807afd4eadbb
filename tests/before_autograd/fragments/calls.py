"""Fragments for the passes that write calls otherwise, or leave out those that do nothing."""

from __future__ import annotations

from collections.abc import Mapping

from tests.before_autograd.fragments.fragment import Entry, Fragment

X: Mapping[str, tuple[int, ...]] = {"x": (4, 6)}
XY: Mapping[str, tuple[int, ...]] = {"x": (4, 6), "y": (4, 6)}

_ONE_SPELLING = (
    "Nothing by itself: what runs after it, a user's pass too, has one spelling to look for. Our "
    "own passes find every spelling without it."
)
_FREE = "It costs next to nothing."

SPELLINGS = (
    Entry(
        "normalization_pass_aten",
        X,
        [
            Fragment("a, b = torch.split(x, 3, dim=1)\nreturn a + b"),
            Fragment("[p + 1 for p in x.split([2, 4], -1)]"),
            Fragment("[p + 1 for p in torch.unbind(x, dim=-1)]"),
            Fragment("torch.cat([x, x + 1], axis=-1) + 1"),
            Fragment("torch.stack([x, x + 1], -1) + 1"),
        ],
        _ONE_SPELLING,
        _FREE,
        exported=True,
    ),
    Entry(
        "normalize_node_kwargs_pass",
        X,
        [
            Fragment("torch.sum(x, -1) * 2"),
            Fragment("x.softmax(-1)"),
            Fragment("torch.cat([x, x], -1) * 2"),
            Fragment("F.dropout(x, 0.5, False) * 2"),
            Fragment("aten.sum(x, [-1]) * 2"),
            Fragment("torch.mean(x, axis=-2, keepdims=True) * 2"),
        ],
        _ONE_SPELLING,
        _FREE,
    ),
    Entry(
        "numpy_compat_normalization",
        X,
        [
            Fragment("torch.sum(x, axis=1, keepdims=True) * 2", stock=1),
            Fragment("torch.mean(x=x, axis=-1)", stock=1),
            Fragment("torch.cat([x, x], axis=-1) * 2", stock=1),
            Fragment("torch.softmax(x, axis=-1)", stock=1),
            Fragment("torch.argmax(x, axis=0, keepdims=False)", stock=1),
            Fragment("torch.stack([x, x], axis=-1) * 2", stock=1),
        ],
        _ONE_SPELLING,
        _FREE,
    ),
    Entry(
        "normalization_pass",
        X,
        [
            Fragment("a, b = x.split(3, dim=-1)\nreturn a + b", stock=1),
            Fragment("[p + 1 for p in torch.split(x, [2, 4], 1)]", stock=1),
            Fragment("[p + 1 for p in x.unbind(-1)]", stock=1),
            Fragment("torch.concat((x, x + 1), axis=-1) + 1", stock=1),
            Fragment("torch.stack([x, x + 1], -1) + 1", stock=1),
            Fragment("x[:, :1].squeeze(-1) + 1"),
            Fragment("x.reshape(-1, 2) + 1"),
            Fragment("x.clamp(min=0) + x.clip(-1, 1)", 2),
            Fragment("x.detach() + aten.detach(x)", 2),
        ],
        _ONE_SPELLING,
        _FREE,
    ),
)

NOOPS = (
    Entry(
        "remove_noop_pass",
        XY,
        [
            Fragment("x.reshape(4, 6).exp() + 1"),
            Fragment("x.view(-1, 6).exp() + 1"),
            Fragment("x.view_as(y).exp() + y"),
            Fragment("torch.reshape(x, (4, 6)).exp() + 1"),
            Fragment("x.unflatten(0, (4,)).flatten(-1).exp() + 1", 2),
            Fragment("x.expand(4, 6).exp() + 1"),
            Fragment("x.expand_as(y).exp() + y"),
            Fragment("x[:].exp() + x[..., 0:6]", 2),
            Fragment("x[:, :].exp() + 1"),
            Fragment("x.narrow(1, 0, 6).exp() + 1"),
            Fragment("x.float().exp() + 1"),
            Fragment("x.to(torch.float32).exp() + 1"),
            Fragment("x.to(dtype=torch.float32).exp() + 1"),
            Fragment("x.type(torch.float32).exp() + 1"),
            Fragment("x.to(y).exp() + y"),
            Fragment('x.to("cpu").exp() + 1'),
            Fragment("x.cpu().exp() + 1"),
            Fragment("x.contiguous().exp() + 1"),
            Fragment("aten.alias(x).exp() + 1"),
            Fragment("F.dropout(x, 0.5, False).exp() + 1"),
            Fragment("F.dropout(x, p=0.5, training=False).exp() + 1"),
            Fragment("torch.dropout(x, 0.5, train=False).exp() + 1"),
            Fragment("torch.cat([x], -1).exp() + 1"),
            Fragment("torch.concat((x,), axis=1).exp() + 1"),
            Fragment("x.split(6, -1)[0].exp() + 1"),
            Fragment("torch.chunk(x, 1)[0].exp() + 1"),
            Fragment("x.transpose(0, 1).transpose(-1, 0).exp() + 1"),
            Fragment("x.t().t().exp() + 1"),
            Fragment("x.T.T.exp() + 1"),
            Fragment("x.mT.mT.exp() + 1"),
            Fragment("x.permute(1, 0).permute(-1, 0).exp() + 1"),
            Fragment("torch.swapaxes(x.swapdims(0, 1), 1, 0).exp() + 1"),
            Fragment("x.unsqueeze(0).squeeze(0).exp() + 1"),
            Fragment("x[None][0].exp() + 1"),
        ],
        "The call is gone, and what reads it reads what it was made of, which other passes can "
        "see.",
        "A call whose result is returned, beside what it was made of or alone, stays: the caller "
        "could tell a view from a tensor.",
    ),
    Entry(
        "relu_nan_to_num",
        X,
        [
            Fragment("torch.nn.functional.relu(torch.nan_to_num(x)) + 1"),
            Fragment("x.nan_to_num().relu() + 1"),
            Fragment("torch.relu(x.nan_to_num(nan=0.0)) + 1"),
            Fragment("aten.relu(torch.nan_to_num(input=x, posinf=3.0)) + 1"),
            Fragment("F.relu(aten.nan_to_num(x, 0.0, 2.0, -2.0)) + 1"),
        ],
        "Nothing by itself: of two orders that give the same it leaves one.",
        "It is not done where a number stands for NaN or infinity that relu would change.",
    ),
    Entry(
        "remove_reshape_pass",
        X,
        [
            Fragment("torch.reshape(torch.reshape(x, (2, 12)), (24,)) * 2"),
            Fragment("x.reshape(2, 12).reshape(-1) * 2"),
            Fragment("x.view(2, 12).reshape(24) * 2"),
            Fragment("x.reshape(24).relu().reshape(4, 6) * 2"),
            Fragment("torch.tanh(x.view(-1)).view(4, 6) * 2"),
            Fragment("x.flatten().reshape(3, 8) * 2"),
            Fragment("x.view(2, 12).view(24) * 2"),
            Fragment("torch.flatten(x).sigmoid().unflatten(0, (4, 6)) * 2"),
            Fragment("aten.reshape(aten.view(x, [24]), [8, 3]) * 2"),
        ],
        "One call instead of two, or a pointwise call without reshapes around it.",
        "An inner reshape that is read by something else stays, and one of both is gone.",
    ),
    Entry(
        "sink_cat_after_pointwise",
        XY,
        [
            Fragment("torch.relu(torch.cat([x, y], dim=1)) * 2", stock=1),
            Fragment("F.relu(torch.concat((x, y), axis=-1)) * 2", stock=1),
            Fragment("torch.cat([x, y], 0).tanh() * 2", stock=1),
            Fragment("torch.tanh(torch.cat([x, y], 1).view(-1)) * 2", stock=1),
            Fragment("aten.relu(aten.cat([x, y], -2)) * 2"),
            Fragment("torch.concatenate([x, y]).relu() * 2"),
        ],
        "One kernel computes a part and writes it to its place, together with what made the part.",
        "If the cat is read by something else too it is made anyway, and the call stays behind it.",
    ),
)

ENTRIES = (*SPELLINGS, *NOOPS)
