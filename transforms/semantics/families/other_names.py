"""Ops that are other ops under a different name."""

from __future__ import annotations

from collections.abc import Mapping

from xductor.transforms.semantics.registry import meaning, meanings

#: The op whose meaning each of them has.
SAME: Mapping[str, str] = {
    "aten.subtract.Tensor": "aten.sub.Tensor",
    "aten.subtract.Scalar": "aten.sub.Scalar",
    "aten.multiply.Tensor": "aten.mul.Tensor",
    "aten.multiply.Scalar": "aten.mul.Scalar",
    "aten.divide.Tensor": "aten.div.Tensor",
    "aten.divide.Scalar": "aten.div.Scalar",
    "aten.divide.Tensor_mode": "aten.div.Tensor_mode",
    "aten.negative.default": "aten.neg.default",
    "aten.absolute.default": "aten.abs.default",
    "aten.fix.default": "aten.trunc.default",
    "aten.clip.default": "aten.clamp.default",
    "aten.clip.Tensor": "aten.clamp.Tensor",
    "aten.arctan2.default": "aten.atan2.default",
    "aten.special_logsumexp.default": "aten.logsumexp.default",
    "aten.special_softmax.default": "aten.softmax.int",
    "aten.special_expit.default": "aten.sigmoid.default",
    "aten.special_xlogy.default": "aten.xlogy.Tensor",
    "aten.swapaxes.default": "aten.transpose.int",
    "aten.swapdims.default": "aten.transpose.int",
    "aten.moveaxis.int": "aten.movedim.int",
    "prims.div.default": "aten.div.Tensor",
    "prims.bitwise_and.default": "aten.bitwise_and.Tensor",
    "prims.bitwise_or.default": "aten.bitwise_or.Tensor",
    "prims.bitwise_xor.default": "aten.bitwise_xor.Tensor",
    "prims.bitwise_not.default": "aten.bitwise_not.default",
    "prims.reciprocal.default": "aten.reciprocal.default",
    "prims.sqrt.default": "aten.sqrt.default",
    "prims.sign.default": "aten.sign.default",
    "prims.fmod.default": "aten.fmod.Tensor",
    "prims.remainder.default": "aten.remainder.Tensor",
    "prims.fill.default": "aten.fill.Scalar",
    **{
        f"aten.{long}.{overload}": f"aten.{short}.{overload}"
        for long, short in (
            ("greater", "gt"), ("greater_equal", "ge"), ("less", "lt"), ("less_equal", "le"),
            ("not_equal", "ne"),
        )
        for overload in ("Tensor", "Scalar")
    },
    **{
        f"aten.arc{name}.default": f"aten.a{name}.default"
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    **{
        f"prims.{name}.default": f"aten.{name}.default"
        for name in (
            "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin",
            "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc",
            "lgamma", "digamma", "rsqrt", "floor", "ceil", "trunc", "round",
        )
    },
    **{f"aten.__{name}__.{overload}": f"aten.bitwise_{name}.{overload}"
       for name in ("and", "or", "xor") for overload in ("Tensor", "Scalar")},
}  # fmt: skip

for _name, _other in SAME.items():
    meaning(_name)(meanings()[_other])
