"""Fragments for the passes over pieces: what cuts a tensor up and joins it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.before_autograd.fragments.fragment import Entry, Fragment

X: Mapping[str, tuple[int, ...]] = {"x": (4, 6)}
XY: Mapping[str, tuple[int, ...]] = {"x": (4, 6), "y": (4, 6)}
TWO: Mapping[str, Any] = {"threshold_to_cat": 2}

_COPY = (
    "The join copied every element; a view copies none, and a reshape or permutation copies each "
    "once instead of once for every call in between."
)
_FEWER = "A join of fewer parts is one kernel that reads fewer tensors, and the cuts are gone."
_READ = (
    "If pieces are read by other calls too, they stay, and the join alone goes. If the result is "
    "returned or written to, a copy has to be made anyway, and there is little to gain."
)

CUTS = (
    Entry(
        "remove_split_with_size_one_pass",
        X,
        [
            Fragment("torch.split(x, 6, 1)[0] * 2", stock=1),
            Fragment("x.split(6, dim=-1)[0] * 2", stock=1),
            Fragment("x.split([6], 1)[0] * 2", stock=1),
            Fragment("torch.chunk(x, 1, dim=1)[0] * 2"),
            Fragment("x.chunk(1, -2)[0] * 2"),
            Fragment("aten.split.Tensor(x, 9, 1)[0] * 2"),
        ],
        "The call is gone. A view costs no kernel, so that what is gained is time of the compiler.",
        "It always pays.",
    ),
    Entry(
        "merge_splits_pass",
        X,
        [
            Fragment(
                """
                a, b = torch.split(x, [2, 4], 1)
                c, d = torch.split(b, [1, 3], 1)
                return a.sin(), c.cos(), d.exp()
                """,
                stock=1,
            ),
            Fragment(
                "a, b = x.split(3, 1); c = b.split(1, dim=1); return a.sin(), c[0], c[2] * 2",
                stock=1,
            ),
            Fragment("a, b = x.chunk(2, -1); c, d, e = b.chunk(3, 1); return a * 2, c, d * 3, e"),
            Fragment("a, b = x.split([1, 5], -1); c = b.chunk(5, -1); return a, c[0] * c[4]"),
            Fragment("a, b = aten.split(x, 2); c, d = b.split(1); return a * 2, c * d"),
            Fragment(
                "a, b = x.tensor_split(2, -1); c, d = b.tensor_split([1], 1); return a, c * 2, d"
            ),
            Fragment("a, b = torch.hsplit(x, [2]); c, d = torch.hsplit(b, 2); return a * 2, c, d"),
            Fragment("a, b = x.vsplit(2); c, d = b.split(1); return a * 2, c * d"),
        ],
        "One call instead of two. Later passes see all pieces as pieces of one tensor.",
        "A piece that is read by something else too stays what it is, and so do both splits.",
    ),
    Entry(
        "remove_split_ops_pass",
        X,
        [
            Fragment("torch.cat(torch.split(x, [1, 3, 2], 1), 1) * 2"),
            Fragment("torch.concat(x.split(2, dim=-1), axis=-1) * 2"),
            Fragment("torch.cat([x[:, :1], x[:, 1:4], x[..., 4:]], dim=-1) * 2"),
            Fragment("x.split([1, 3, 2], 1)[1] * 2"),
            Fragment("torch.chunk(x, 3, -1)[2] * 2"),
            Fragment("torch.concatenate((x.narrow(1, 0, 4), torch.narrow(x, -1, 4, 2)), 1) * 2"),
        ],
        _COPY + " A split of which one piece is read becomes a narrow.",
        _READ,
    ),
)

CATS = (
    Entry(
        "merge_getitem_cat_pass",
        XY,
        [
            Fragment(
                """
                a, b, c = torch.split(x, [1, 3, 2], 1)
                return torch.cat([b, c], 1) * 2, a
                """,
                stock=1,
            ),
            Fragment(
                "p = x.split(2, dim=-1); return torch.concat([p[0], p[1]], axis=-1) * 2, p[2]",
                stock=1,
            ),
            Fragment("torch.cat(x.chunk(3, 1)[1:], dim=1) * 2"),
            Fragment("torch.cat([x[:, 1:2], x[:, 2:5]], -1) * 2"),
            Fragment("torch.concatenate((x.narrow(1, 0, 2), torch.narrow(x, -1, 2, 2)), 1) * 2"),
            Fragment("torch.cat(aten.split_with_sizes(x, [2, 3, 1], 1)[:2], 1) * 2"),
        ],
        _COPY,
        _READ,
        {},
    ),
    Entry(
        "mutate_cat_pass",
        X,
        [
            Fragment("torch.cat(torch.split(x, [1, 3, 2], dim=1), dim=1) * 2", stock=1),
            Fragment("torch.concat(x.split(2, dim=-1), axis=-1) * 2", stock=1),
            Fragment("torch.cat(x.chunk(3, 1)[:2], dim=1) * 2"),
            Fragment("torch.cat([x[:, :1], x[:, 1:4], x[..., 4:]], dim=-1) * 2"),
            Fragment("torch.cat((torch.select(x, 1, 0)[:, None], x[:, 1:]), 1) * 2"),
        ],
        _COPY,
        _READ,
    ),
    Entry(
        "split_cat_pass",
        XY,
        [
            Fragment(
                """
                a, b, c = torch.split(x, 2, dim=1)
                return torch.cat([a, b, c, y], 1) * 2
                """
            ),
            Fragment("torch.concat([y, *x.chunk(3, -1)], axis=-1) * 2"),
            Fragment("torch.cat([x[:, :3], x[:, 3:], y], -1) * 2"),
            Fragment("torch.cat([x.narrow(1, 0, 4), torch.narrow(x, -1, 4, 2), y], dim=1) * 2"),
            Fragment("torch.cat(x.split(2, 1), 0) * 2"),
            Fragment("torch.stack(torch.chunk(x, 3, dim=1), dim=1) * 2"),
        ],
        _FEWER + " Pieces in another order than they were cut in are one permutation, if they are.",
        _READ,
    ),
    Entry(
        "split_cat_pass",
        XY,
        [
            Fragment(
                """
                rows = [torch.squeeze(row, 0) for row in torch.split(x, 1, dim=0)]
                return torch.cat(rows, 0) * 2
                """,
                stock=1,
            ),
            Fragment("torch.cat([one.squeeze(1) for one in x.split(1, 1)], 0) * 2", stock=1),
            Fragment("torch.cat([one.squeeze(dim=0) for one in x.chunk(4)], -1) * 2"),
            Fragment("torch.concat([torch.squeeze(x[i : i + 1], 0) for i in range(4)]) * 2"),
            Fragment("torch.stack([torch.squeeze(one, dim=-1) for one in x.split(1, -1)], 1) * 2"),
        ],
        _COPY,
        _READ,
        title="merge_split_squeeze",
    ),
    Entry(
        "split_cat_to_slices_pass",
        XY,
        [
            Fragment(
                """
                a, b, c, d, e, f = torch.split(x, 1, dim=1)
                return torch.cat([a, b, c, y, e, f], 1) * 2
                """,
                stock=1,
            ),
            Fragment("p = x.chunk(6, -1); return torch.concat((*p[:3], y, *p[4:]), axis=-1) * 2"),
            Fragment("torch.cat([x[:, 0:1], x[:, 1:2], y], -1) * 2"),
            Fragment("torch.cat([x.narrow(1, 0, 1), torch.narrow(x, -1, 1, 1), y], dim=1) * 2"),
            Fragment("torch.cat([*aten.split(x, 2, 1)[1:], y], 1) * 2"),
        ],
        _FEWER,
        "Below `threshold_to_cat` parts (10, unless the option says otherwise) it is not done.",
        TWO,
    ),
    Entry(
        "unbind_cat_to_view_pass",
        XY,
        [
            Fragment(
                """
                a, b, c, d = torch.unbind(x, dim=0)
                return torch.cat([a, b, c, d]) * 2
                """,
                stock=1,
            ),
            Fragment("torch.concat(x.unbind(-2), axis=-1) * 2", stock=1),
            Fragment("torch.cat([x[0], x[1], x[2], y[3]], 0) * 2"),
            Fragment("torch.cat([x.select(0, 1), torch.select(x, -2, 2), y[0]], dim=0) * 2"),
            Fragment("torch.cat([one.squeeze(0) for one in x.split(1)]) * 2"),
        ],
        _COPY,
        "Below `threshold_to_cat` parts (10, unless the option says otherwise) it is not done.",
        TWO,
    ),
    Entry(
        "merge_concats_pass",
        XY,
        [
            Fragment("torch.cat([torch.cat([x, y], 1), x * 2], 1) + 1"),
            Fragment("torch.concat((x, torch.concat((y, x), axis=-1)), axis=1) + 1"),
            Fragment("torch.cat([torch.concatenate([x, y], dim=-2), x], dim=0) + 1"),
            Fragment("aten.cat([torch.hstack([x, y]), x], 1) + 1"),
            Fragment("torch.cat([torch.cat([torch.cat([x, y]), y], -2), x]) + 1", 2),
        ],
        "Every element of the inner cat was copied twice, and now once.",
        "An inner cat that is read by something else has to be made anyway, and stays.",
    ),
    Entry(
        "stack_to_unsqueeze_pass",
        XY,
        [
            Fragment("torch.stack([x, y], dim=1) * 2"),
            Fragment("torch.stack((x, y), axis=-1) * 2"),
            Fragment("torch.stack(tensors=[x, y, x]) * 2"),
            Fragment("aten.stack([x, y], -3) * 2"),
            Fragment("torch.stack([x]) * 2"),
        ],
        "Nothing by itself: it lets passes that look for a cat see the stack.",
        "The graph has more calls than before; Inductor makes one kernel of either.",
    ),
    Entry(
        "fuse_chunk_reshape_concat_pass",
        X,
        [
            Fragment(
                """
                a, b = torch.chunk(x, 2, dim=0)
                return torch.cat([a.reshape(-1), b.reshape(-1)]) * 2
                """
            ),
            Fragment("torch.concat([torch.reshape(p, (2, -1)) for p in x.split(1)], axis=-1) * 2"),
            Fragment("torch.cat([p.view(-1) for p in x.chunk(4, -2)], -1) * 2"),
            Fragment("torch.cat([p.reshape(2, 2) for p in torch.split(x, 1, 1)], 1) * 2"),
            Fragment("torch.cat([x[:2].flatten(), x[2:].flatten()], dim=0) * 2"),
        ],
        _COPY,
        _READ,
    ),
    Entry(
        "fuse_chunk_squeeze_cat_pass",
        X,
        [
            Fragment(
                """
                pieces = torch.chunk(x, 4, dim=0)
                return torch.cat([torch.squeeze(one, 0) for one in pieces]) * 2
                """
            ),
            Fragment("torch.concat([p.squeeze(-1) for p in x.chunk(6, -1)], axis=0) * 2"),
            Fragment("torch.cat([p.squeeze(dim=0) for p in x.split(1)], -1) * 2"),
            Fragment("torch.cat([x[i : i + 1].squeeze(0) for i in range(4)], dim=0) * 2"),
            Fragment("torch.cat([p.squeeze() for p in x.tensor_split(4)]) * 2"),
        ],
        _COPY,
        _READ,
    ),
    Entry(
        "fuse_chunk_reshape_unsqueeze_concat_pass",
        X,
        [
            Fragment(
                """
                a, b = torch.chunk(x, 2, dim=0)
                rows = [one.reshape(-1).unsqueeze(0) for one in (a, b)]
                return torch.cat(rows, dim=0) * 2
                """
            ),
            Fragment(
                """
                rows = [torch.unsqueeze(p.reshape(3, 4), 0) for p in x.chunk(2)]
                return torch.concat(rows, axis=0) * 2
                """
            ),
            Fragment("torch.cat([p.view(-1)[None] for p in x.split(2, -2)], -2) * 2"),
            Fragment("torch.cat([torch.reshape(p, (3, 4))[None, :] for p in x.split(2)]) * 2"),
            Fragment("torch.cat([x[i].unsqueeze(0) for i in range(4)]) * 2"),
        ],
        _COPY,
        _READ,
    ),
    Entry(
        "fuse_split_getitem_squeeze_cat",
        XY,
        [
            Fragment(
                """
                a, b, c, d = torch.split(x, 1, dim=0)
                return torch.cat([a.squeeze(0), b.squeeze(0), y[0]]) * 2
                """
            ),
            Fragment("torch.concat([p.squeeze(-1) for p in x.split(1, -1)], axis=-1) * 2"),
            Fragment("torch.cat([*(torch.squeeze(p, 0) for p in x.chunk(4)), y[1]]) * 2"),
            Fragment("torch.stack([x[:, i : i + 1].squeeze(1) for i in range(6)], dim=-1) * 2"),
            Fragment("torch.cat([x.narrow(0, i, 1).squeeze(dim=0) for i in range(4)], 0) * 2"),
        ],
        _COPY,
        _READ,
    ),
)

STACKS = (
    Entry(
        "unbind_stack_pass",
        X,
        [
            Fragment("torch.stack(torch.unbind(x, dim=1), dim=1) * 2", stock=1),
            Fragment("torch.stack(x.unbind(-2), axis=0) * 2", stock=1),
            Fragment("torch.stack([x[:, i] for i in range(6)], -1) * 2"),
            Fragment("torch.stack([torch.select(x, -1, i) for i in range(6)], 1) * 2"),
            Fragment("torch.cat([p.unsqueeze(1) for p in x.unbind(1)], 1) * 2"),
            Fragment("torch.stack([p.squeeze(1) for p in x.split(1, dim=1)], 0) * 2"),
        ],
        _COPY,
        _READ,
    ),
    Entry(
        "split_stack_to_cats_pass",
        XY,
        [
            Fragment(
                """
                a, b, c = torch.split(x, 2, dim=1)
                return torch.stack([a, b, c, y[:, :2]], dim=0) * 2
                """,
                stock=None,
            ),
            Fragment("torch.stack([*x.chunk(3, -1), y[:, 1:3]], axis=1) * 2"),
            Fragment("torch.stack([x[:, :3], x[:, 3:], y[:, 1:4]], 0) * 2"),
            Fragment(
                "torch.stack([x.narrow(1, 0, 3), torch.narrow(x, -1, 3, 3), y[:, :3]], -2) * 2"
            ),
            Fragment("torch.stack(aten.split(x, 2, 1), 0) * 2"),
        ],
        _FEWER,
        "Below `threshold_to_cat` parts (10, unless the option says otherwise) it is not done.",
        TWO,
    ),
    Entry(
        "unbind_stack_to_slices_pass",
        XY,
        [
            Fragment(
                """
                a, b, c, d, e, f = torch.unbind(x, dim=1)
                return torch.stack([a, b, c, y[:, 0]], dim=1) * 2
                """,
                stock=1,
            ),
            Fragment("torch.stack([*x.unbind(-2), y[0]], axis=0) * 2", stock=1),
            Fragment("torch.stack([x[:, 0], x[:, 1], y[:, 0]], -1) * 2"),
            Fragment("torch.stack([x.select(0, 1), torch.select(x, -2, 2), y[0]]) * 2"),
            Fragment("torch.stack([*(p.squeeze(1) for p in x.split(1, 1)), y[:, 0]], 1) * 2"),
        ],
        _FEWER,
        "Below `threshold_to_cat` parts (10, unless the option says otherwise) it is not done.",
        TWO,
    ),
    Entry(
        "move_reshape_out_of_split_stack_pass",
        XY,
        [
            Fragment(
                """
                a, b, c, d = torch.split(x, 1, dim=0)
                rows = [torch.reshape(one, (2, 3)) for one in (a, b, c, d)]
                return torch.stack(rows, dim=0) * 2
                """,
                stock=1,
            ),
            Fragment("torch.stack([p.reshape(-1) for p in x.chunk(3, -1)], axis=0) * 2"),
            Fragment("torch.stack([p.view(6) for p in x.split(1)], -1) * 2"),
            Fragment(
                """
                rows = [p.reshape(3, 1, 4) for p in (*x.chunk(2), y[:2])]
                return torch.stack(rows) * 2
                """
            ),
            Fragment("torch.stack([x[:2].view(-1), x[2:].view(-1)], 0) * 2"),
        ],
        "One reshape instead of one for each piece, and no join.",
        "Below `threshold_to_cat` parts (10, unless the option says otherwise) it is not done.",
        TWO,
    ),
    Entry(
        "merge_stack_tahn_unbind_pass",
        X,
        [
            Fragment(
                """
                a, b, c = torch.split(x, 2, dim=1)
                d, e, f = torch.unbind(torch.tanh(torch.stack([a, b, c], dim=0)), dim=0)
                return d.sin(), e.cos(), f.exp()
                """
            ),
            Fragment(
                "p = torch.stack(x.chunk(3, -1)).tanh().unbind(); return p[0] * 2, p[1] * p[2]"
            ),
            Fragment(
                "p = F.tanh(torch.stack(x.split(1, 1)[1:4], axis=1)).unbind(-2); return p[0] * p[2]"
            ),
            Fragment(
                """
                p = torch.unbind(torch.stack([x[:, :3], x[:, 3:]], -1).tanh(), -1)
                return p[0] * p[1]
                """
            ),
            Fragment(
                """
                p = torch.stack([x.narrow(1, n, 1) for n in (2, 3)]).tanh().unbind(0)
                return p[0] * p[1]
                """
            ),
        ],
        "No stack, and so no copy: tanh reads the tensor that was cut.",
        "If only few of its pieces are read, tanh of the whole is more work; it is done where the "
        "pieces lie behind each other, and so are all of what it reads.",
        numerics="default",
    ),
)

ENTRIES = (*CUTS, *CATS, *STACKS)
