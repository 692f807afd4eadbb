"""What computes products on this CPU: MKL, oneDNN or ACL, and how."""

from __future__ import annotations

from functools import cache
from typing import Any


def calls_onednn() -> bool:
    """Whether oneDNN is there, and not turned off by `torch.backends.mkldnn.flags`."""
    import torch

    return torch._C._has_mkldnn and bool(torch.backends.mkldnn.enabled)


@cache
def packed_dtypes() -> tuple[str, ...]:
    """The dtypes that oneDNN computes with on this machine."""
    import torch

    found = ["float32"]
    for name, short in (("bfloat16", "bf16"), ("float16", "fp16")):
        if getattr(torch.ops.mkldnn, f"_is_mkldnn_{short}_supported")():
            found.append(name)
    return tuple(found)


def reduces_float32() -> bool:
    """Whether products of float32 may be computed in a narrower dtype."""
    import torch

    matmul: Any = getattr(torch.backends.mkldnn, "matmul", None)
    return getattr(matmul, "fp32_precision", "none") in ("bf16", "tf32")


def has_acl() -> bool:
    """Whether oneDNN calls the Arm Compute Library."""
    import torch

    return bool(torch.ops.mkldnn._is_mkldnn_acl_supported())


def has_mkl() -> bool:
    """Whether PyTorch was built with MKL."""
    import torch

    return bool(torch._C.has_mkl)


def packs_for_mkl() -> bool:
    """Whether products of float32 with constant weights may be MKL's packed ones."""
    return not (reduces_float32() or has_acl())


def packs_float32() -> bool:
    """Whether there is a packed product of float32, of any library."""
    return reduces_float32() or has_acl() or has_mkl()


def mkl_is_narrow() -> bool:
    """Whether oneDNN computes float32 in vectors twice as wide as those of MKL.

    MKL has code for AVX-512 that only Intel's processors run. SSE4a tells the others; those with
    AVX-512 but without AVX-VNNI compute 512 bits in two halves, so that MKL loses nothing.
    """
    if not has_mkl() or reduces_float32():
        return False
    return all(_cpu_has(one) for one in ("avx512_f", "avx_vnni", "sse4a"))


def copies_bias() -> bool:
    """Whether `addmm` of bfloat16 is oneDNN's product of a processor without AMX."""
    if "bfloat16" not in packed_dtypes() or has_acl():
        return False
    return _cpu_has("avx512_bf16") and not _cpu_has("amx_tile")


def notes(_: object) -> tuple[bool, ...]:
    """What a compile asks for of this and Inductor's cache keys leave out."""
    return (calls_onednn(), reduces_float32())


@cache
def _cpu_has(feature: str) -> bool:
    """Whether the processor has an instruction set, where torch tells."""
    import torch

    told: Any = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(told.get(feature, False))


__all__ = [
    "calls_onednn",
    "copies_bias",
    "has_acl",
    "has_mkl",
    "mkl_is_narrow",
    "notes",
    "packed_dtypes",
    "packs_float32",
    "packs_for_mkl",
    "reduces_float32",
]
