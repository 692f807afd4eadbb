"""The functional operators that have an in-place form.

The registries of Inductor's `reinplace.py` say the same of its own ops.
"""

from __future__ import annotations

import torch

_COLLECTIVES = hasattr(torch.ops, "_c10d_functional") and hasattr(
    torch.ops._c10d_functional, "all_reduce"
)

#: Ops whose result is an operand with other content: the first, or that of `WRITTEN_OPERAND`.
IN_PLACE_FORM = {
    "aten.index_put.default": "aten.index_put_.default",
    "aten._unsafe_index_put.default": "prims._unsafe_index_put_.default",
}
#: Sums of oneDNN's calls, with the place among their operands of what is added.
_SUMS = {
    "xductor.convolution_binary.default": 1,
    "xductor.qconv_binary.default": 4,
    "xductor.qlinear_binary.default": 4,
    "xductor.qlinear_binary.tensor": 6,
}
IN_PLACE_FORM.update({name: name.replace("_binary.", "_binary_.") for name in _SUMS})
if _COLLECTIVES:  # absent from a torch without distributed support
    IN_PLACE_FORM["_c10d_functional.all_reduce.default"] = "_c10d_functional.all_reduce_.default"

WRITTEN_OPERAND = _SUMS

#: Ops that code generation may compute out of place in spite of their form in place: where what
#: they would write is no buffer of its own there. They write to no input and no constant.
MAYBE_IN_PLACE = frozenset(_SUMS)

#: Ops whose results have memory of their own in the graph, and that code generation may leave out.
MAYBE_THEMSELVES = frozenset(
    ("prims.inductor_force_stride_order.default", "prims.convert_element_type.default")
)

#: Functional ops that code generation lowers as a copy, and a write to the copy.
WRITE_COPIES = frozenset(
    f"aten.{name}"
    for name in (
        "_unsafe_index_put.default",
        "_unsafe_masked_index_put_accumulate.default",
        "as_strided_scatter.default",
        "diagonal_scatter.default",
        "index_put.default",
        "scatter.reduce",
        "scatter.src",
        "scatter.value",
        "scatter.value_reduce",
        "scatter_add.default",
        "scatter_reduce.two",
    )
)

#: Ops that return the tensors of their first list with other content; in place they return nothing.
LIST_FORM = {
    f"aten._foreach_{name}": f"aten._foreach_{name.replace('.', '_.')}"
    for name in (
        "add.List",
        "add.Scalar",
        "mul.List",
        "mul.Scalar",
        "div.List",
        "div.Scalar",
        "copy.default",
        "addcmul.Scalar",
        "addcdiv.Scalar",
    )
}

#: Ops that return the tensors of their list with other content; in place they give the list too.
COALESCED_FORM: dict[str, str] = {}
if _COLLECTIVES:
    COALESCED_FORM["_c10d_functional.all_reduce_coalesced.default"] = (
        "_c10d_functional.all_reduce_coalesced_.default"
    )

FUNCTIONAL_FORM = {
    in_place: functional
    for form in (IN_PLACE_FORM, LIST_FORM, COALESCED_FORM)
    for functional, in_place in form.items()
}

__all__ = [
    "COALESCED_FORM",
    "FUNCTIONAL_FORM",
    "IN_PLACE_FORM",
    "LIST_FORM",
    "MAYBE_IN_PLACE",
    "MAYBE_THEMSELVES",
    "WRITE_COPIES",
    "WRITTEN_OPERAND",
]
