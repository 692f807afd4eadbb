"""Tensor constants after the text of a module: MLIR's resource section, `{-# ... #-}`.

    {-#
      dialect_resources: {
        fx: {
          forward._tensor_constant0: "0x0400000000000040000040400000803F"
        }
      }
    #-}

A key is the symbol of a graph and the path of an attribute that it reads. A blob is in MLIR's
format: the alignment in four bytes, little-endian, then the elements in row-major order. Dtype,
sizes and strides are those of the type that `fx.get_attr` records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes, is_traceable_wrapper_subclass
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import ModuleOp

from xductor.ir.dialect.graph import GetAttrOp, GraphOp
from xductor.ir.dialect.types import TensorType

_ODD = re.compile(r"[^A-Za-z0-9_]")
_ALIGNMENTS = frozenset(1 << power for power in range(13))
#: The most elements of a storage per element of its tensor, if it has more than `_ROOM`.
_SPARSEST, _ROOM = 1024, 1 << 24


class ResourceError(ValueError):
    """A blob is malformed, or does not fit the type that reads it."""


class Resources(OpAsmDialectInterface):
    """The blobs of one context by key; filled by xDSL's parser and read by its printer."""

    def declare_resource(self, key: str) -> str:
        """Called by a parser once for each key; the blob of an earlier text is forgotten."""
        self._blob_storage[key] = ""
        return key

    def hold(self, key: str, value: torch.Tensor) -> None:
        """Keep the elements of a tensor under a key, for the printer."""
        self._blob_storage[key] = blob_of(value)

    def parse_resource(self, key: str, val: str) -> None:
        if self._blob_storage.get(key, val) not in ("", val):
            raise ValueError(f"two values for {key}")
        blob_bytes(val)
        super().parse_resource(key, val)


@dataclass(frozen=True)
class GraphConstants:
    """The constants of one parsed graph: where they are stored, and under which symbol."""

    resources: Resources
    graph: str

    def get(self, path: str, type_: Any) -> torch.Tensor | None:
        """The tensor at a path, of that type; None if the text does not hold it.

        Raises ResourceError if the size of the blob differs from that of the type, or if the
        device of the type is missing.
        """
        return self._read(path, type_, tensor_of)

    def check(self, path: str, type_: Any) -> None:
        """Raise ResourceError if the blob's size differs from the type's; uses no device."""
        self._read(path, type_, elements_of)

    def _read(
        self, path: str, type_: Any, read: Callable[[str, TensorType], torch.Tensor]
    ) -> torch.Tensor | None:
        key = resource_key(self.graph, path)
        blob = self.resources.lookup(key)
        if not blob or not isinstance(type_, TensorType):
            return None
        try:
            return read(blob, type_)
        except ValueError as error:
            raise ResourceError(f"resource {key}: {error}") from None


def resource_key(graph: str, path: str) -> str:
    """`forward.block.0.weight`; dots in the symbol are escaped, so that keys are unique."""
    symbol = _ODD.sub(_coded, graph)
    if symbol[:1].isdigit() or symbol[:1] in ("", "$"):
        symbol = f"_{symbol}"
    return ".".join([symbol, *(_ODD.sub(_coded, part) for part in path.split("."))])


def _coded(match: re.Match[str]) -> str:
    return f"${ord(match.group()):x}$"


def constant(graph: GraphOp, op: GetAttrOp) -> torch.Tensor | None:
    """The tensor that an op reads: from a pass, the module that was lowered, or the text.

    None if it is not a plain tensor with elements, such as a fake one, a subclass, or a tensor of
    another layout.
    """
    if op.path in graph.new_constants:
        made: Any = graph.new_constants[op.path]
        return made if made.layout == torch.strided else None
    live = graph.live
    if live is None:
        held = graph.constants
        return held.get(op.path, op.results[0].type) if held is not None and op.results else None
    value: Any = live.gm
    for part in op.path.split("."):
        value = getattr(value, part, None)
    return value if _has_elements(value) else None


def _has_elements(value: Any) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and not isinstance(value, FakeTensor)
        and not is_traceable_wrapper_subclass(value)
        and value.layout == torch.strided
        and value.device.type != "meta"
    )


def constants(module: ModuleOp) -> Iterator[tuple[str, torch.Tensor]]:
    """The constants of a module's graphs with their keys, each once, in the order of reads."""
    seen: set[str] = set()
    for graph in module.ops:
        if not isinstance(graph, GraphOp) or graph.is_declaration:
            continue
        name = graph.constants.graph if graph.constants is not None else graph.sym_name.data
        for op in graph.block.ops:
            if isinstance(op, GetAttrOp) and (key := resource_key(name, op.path)) not in seen:
                value = constant(graph, op)
                if value is not None:
                    seen.add(key)
                    yield key, value


def check_constants(module: ModuleOp) -> None:
    """Check that each blob of a text fits the types that read it. Raises ResourceError."""
    for graph in module.ops:
        if not isinstance(graph, GraphOp) or graph.constants is None:
            continue
        for op in graph.block.ops:
            if isinstance(op, GetAttrOp) and op.results:
                graph.constants.check(op.path, op.results[0].type)


def keys_in_text(graph: GraphOp) -> Iterator[str]:
    """The keys of the constants that a parsed graph reads by now, for xDSL's printer."""
    held = graph.constants
    if held is None:
        return
    for op in graph.block.ops:
        if not isinstance(op, GetAttrOp):
            continue
        key = resource_key(held.graph, op.path)
        if op.path in graph.new_constants and (made := constant(graph, op)) is not None:
            held.resources.hold(key, made)
        if held.resources.lookup(key):
            yield key


def resource_section(module: ModuleOp) -> str:
    """The section for all constants of a module; empty if there are none."""
    lines = [f'      {key}: "{blob_of(value)}"' for key, value in constants(module)]
    if not lines:
        return ""
    inner = ",\n".join(lines)
    return f"\n{{-#\n  dialect_resources: {{\n    fx: {{\n{inner}\n    }}\n  }}\n#-}}\n"


def blob_of(value: torch.Tensor) -> str:
    """The elements of a tensor as a blob in MLIR's format."""
    with _disable_current_modes(), torch.no_grad():
        plain = value.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
        elements = plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b""
    alignment = max(plain.element_size(), 1)
    return "0x" + (alignment.to_bytes(4, "little") + elements).hex().upper()


def blob_bytes(blob: str) -> bytes:
    """The elements of a blob. Raises ValueError if it is malformed."""
    if not blob.startswith("0x"):
        raise ValueError("a blob is a string of hexadecimal digits after 0x")
    try:
        content = bytes.fromhex(blob[2:])
    except ValueError:
        raise ValueError("a blob has an even number of hexadecimal digits after 0x") from None
    if len(content) < 4 or int.from_bytes(content[:4], "little") not in _ALIGNMENTS:
        raise ValueError("a blob begins with its alignment, a power of two in four bytes")
    return content[4:]


def tensor_of(blob: str, type_: TensorType) -> torch.Tensor:
    """A tensor of that type with the elements of a blob.

    Raises ValueError if their number differs from the type's, if its sizes are symbolic, or if its
    device is missing.
    """
    elements = elements_of(blob, type_)
    try:
        with _disable_current_modes():
            return elements.to(type_.device)
    except (RuntimeError, AssertionError) as error:  # the latter from a build without CUDA
        raise ValueError(f"no tensor on {type_.device}: {error}") from None


def elements_of(blob: str, type_: TensorType) -> torch.Tensor:
    """The tensor of a blob, always on the CPU. Raises ValueError if the blob is wrong."""
    size = [one for one in type_.shape if isinstance(one, int)]
    stride = [one for one in type_.stride if isinstance(one, int)]
    if len(size) != type_.rank or len(stride) != type_.rank:
        raise ValueError(f"{type_} has no sizes to read elements for")
    content = bytearray(blob_bytes(blob))
    count = 1
    for dim in size:
        count *= dim
    wanted = count * type_.dtype.itemsize
    if min(size, default=0) < 0 or min(stride, default=0) < 0:
        raise ValueError(f"{type_} has negative sizes or strides")
    if len(content) != wanted:
        raise ValueError(f"{len(content)} bytes, but {type_} has {wanted}")
    room = 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    if room > max(_SPARSEST * count, _ROOM):
        raise ValueError(f"{type_} lays {count} elements out in a storage of {room}")
    with _disable_current_modes():
        if not content:
            return torch.empty_strided(size, stride, dtype=type_.dtype)
        flat = torch.frombuffer(content, dtype=torch.uint8).view(type_.dtype)
        return _strided(flat, size, stride)


def _strided(flat: torch.Tensor, size: list[int], stride: list[int]) -> torch.Tensor:
    """Row-major elements in a tensor with the given strides."""
    plain = flat.reshape(size)
    if list(plain.stride()) == stride:
        return plain
    places = torch.zeros([1] * len(size), dtype=torch.int64)
    for dim, (length, step) in enumerate(zip(size, stride, strict=True)):
        shape = [1] * len(size)
        shape[dim] = length
        places = places + (torch.arange(length) * step).reshape(shape)
    room = flat.new_zeros(int(places.max()) + 1)
    room[places.reshape(-1)] = flat
    return room.as_strided(size, stride)


__all__ = [
    "GraphConstants",
    "ResourceError",
    "Resources",
    "blob_of",
    "check_constants",
    "constant",
    "constants",
    "keys_in_text",
    "resource_key",
    "resource_section",
    "tensor_of",
]
