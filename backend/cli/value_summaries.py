"""Summarizes a value in one row: dtype, shape, range, special values, a hash of its bits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch.utils import _pytree as pytree

from xductor.ir.dialect.dtypes import TEXT_OF_DTYPE

HEADINGS = ("value", "dtype", "shape", "min", "max", "mean", "nan", "inf", "hash")
_WIDTH = 120


def console(*, stderr: bool = False) -> Console:
    """The console for tables: as wide as the terminal, or of a fixed width in a file."""
    made = Console(stderr=stderr)
    return made if made.is_terminal else Console(width=_WIDTH, stderr=stderr)


def named_leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The values in a nesting of tuples, lists and dicts, with the path to each."""
    for path, leaf in pytree.tree_flatten_with_path(value)[0]:
        yield name + "".join(map(str, path)), leaf


def value_hash(value: torch.Tensor) -> str:
    """A hash that is equal for tensors of equal dtype, shape and bits, whatever their strides."""
    digest = hashlib.sha256(f"{value.dtype}{tuple(value.shape)}".encode())
    plain = (
        value if value.is_meta else _dense(value).resolve_conj().resolve_neg().cpu().contiguous()
    )
    if plain.numel() and not plain.is_meta:
        digest.update(plain.view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:12]


def _dense(value: torch.Tensor) -> torch.Tensor:
    plain = value.detach()
    return plain if plain.layout is torch.strided else plain.to_dense()


def row(name: str, value: Any) -> tuple[str, ...]:
    """The row of a value; a value that is no tensor is shown as it is."""
    if not isinstance(value, torch.Tensor):
        return (name, type(value).__name__, "", repr(value), "", "", "", "", "")
    head = (name, TEXT_OF_DTYPE[value.dtype], str(list(value.shape)))
    return (*head, *_statistics(value), value_hash(value))


def _statistics(value: torch.Tensor) -> tuple[str, ...]:
    """min, max, mean of the finite elements; counts of NaN and infinities."""
    if not value.numel() or value.is_meta:
        return ("", "", "", "0", "0")
    with torch.no_grad():
        wide = _dense(value).cpu()
        if value.dtype.is_complex:
            wide = wide.to(torch.complex128).abs()  # the range of the magnitudes
        elif not value.dtype.is_floating_point:
            whole = wide.to(torch.int64)
            mean = f"{wide.to(torch.float64).mean().item():.6g}"
            return (str(whole.min().item()), str(whole.max().item()), mean, "0", "0")
        wide = wide.to(torch.float64)
        nan, inf = int(wide.isnan().sum()), int(wide.isinf().sum())
        finite = wide[wide.isfinite()]
        if not finite.numel():
            return ("", "", "", str(nan), str(inf))
        ends = (finite.min(), finite.max(), finite.mean())
        return (*(f"{end.item():.6g}" for end in ends), str(nan), str(inf))


def table(title: str, rows: list[tuple[str, ...]]) -> Table:
    """The rows as a table."""
    made = Table(title=title, title_justify="left", title_style="bold")
    for heading in HEADINGS:
        left = heading in ("value", "dtype", "shape", "hash")
        made.add_column(heading, justify="left" if left else "right", no_wrap=heading == "hash")
    for one in rows:
        made.add_row(*one)
    return made
