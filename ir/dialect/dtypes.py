"""Element types as text, named as in MLIR and torch's readable graphs (`f32`, `bf16`, `i64`)."""

from __future__ import annotations

from difflib import get_close_matches

import torch

_NAMED: dict[str, str] = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "i1": "bool",
    "ui64": "uint64",
    "ui32": "uint32",
    "ui16": "uint16",
    "ui8": "uint8",
    "complex<f64>": "complex128",
    "complex<f32>": "complex64",
    "complex<f16>": "complex32",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f4E2M1FNx2": "float4_e2m1fn_x2",
    "qi8": "qint8",
    "qui8": "quint8",
    "qi32": "qint32",
    "qui4x2": "quint4x2",
    "qui2x4": "quint2x4",
}


def _all_dtypes() -> dict[str, torch.dtype]:
    """The table above for this torch, plus its other dtypes (`uint4`, `bits8`)."""
    known: dict[str, torch.dtype] = {}
    for text, attribute in _NAMED.items():
        dtype = getattr(torch, attribute, None)
        if isinstance(dtype, torch.dtype):
            known[text] = dtype
    seen = set(known.values())
    for attribute in sorted(vars(torch)):
        dtype = getattr(torch, attribute)
        if isinstance(dtype, torch.dtype) and dtype not in seen:
            known[str(dtype).removeprefix("torch.")] = dtype
            seen.add(dtype)
    return known


DTYPE_OF_TEXT: dict[str, torch.dtype] = _all_dtypes()
TEXT_OF_DTYPE: dict[torch.dtype, str] = {dtype: text for text, dtype in DTYPE_OF_TEXT.items()}


def nearest_dtype(word: str) -> str:
    """The text of the intended element type, given torch's name or a misspelling; "" if none."""
    meant = getattr(torch, word.removeprefix("torch."), None)
    if isinstance(meant, torch.dtype):
        return TEXT_OF_DTYPE.get(meant, "")
    return next(iter(get_close_matches(word, DTYPE_OF_TEXT, n=1, cutoff=0.6)), "")
