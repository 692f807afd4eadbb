"""`decompose_triton_kernel_wrapper_functional`: functional kernel calls become mutating calls."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from xductor.ir import NoneType, RawOp, op_class_by_name
from xductor.transforms.editing.editor import Editor
from xductor.transforms.in_place import triton_calls
from xductor.transforms.in_place.functionalized_arguments import only_cloned
from xductor.transforms.in_place.strided_copies import StridedCopies
from xductor.transforms.in_place.writes_back_pass import WritesBackPass
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply


@dataclass(frozen=True)
class DecomposeTritonKernelWrapperFunctional(WritesBackPass):
    """`triton_kernel_wrapper_functional` becomes `triton_kernel_wrapper_mutation`.

    The kernel writes to copies of the arguments that `only_clone` names, or of all that it writes
    if there is no `only_clone`. A copy has the strides of its original. Counts the calls.
    """

    name = "decompose_triton_kernel_wrapper_functional"
    inductor = "post_grad.py:decompose_triton_kernel_wrapper_functional"
    roots = frozenset((triton_calls.FUNCTIONAL,))

    def write(self, editor: Editor) -> int:
        copies = StridedCopies(editor)
        return sum(_decompose(op, editor, copies) for op in editor.analyses.named(self.roots))


def _decompose(op: RawOp, editor: Editor, strided: StridedCopies) -> bool:
    if not triton_calls.is_plain(op):
        return False
    if not should_apply(DecomposeTritonKernelWrapperFunctional.name):
        return False
    names = triton_calls.written(op) or []
    clones = only_cloned(op)
    arguments = triton_calls.given(op)
    copies: dict[str, SSAValue] = {}
    for name in names if clones is None else clones:
        copy = strided.copy(arguments[name], op)
        if copy is None:
            return False
        copies[name] = copy
    applied(op)
    args, operands = triton_calls.mutation_arguments(op, copies)
    cls = op_class_by_name(triton_calls.MUTATION)
    made = editor.put(cls, args, operands, [NoneType(None)], op)
    assert isinstance(made, RawOp)
    triton_calls.say_written(made, names)
    for name in names:
        for pick in triton_calls.picked(op, name):
            editor.replace(pick.op, copies.get(name, arguments[name]), counted=False)  # type: ignore[arg-type]
    editor.erase(op)
    return True


__all__ = ["DecomposeTritonKernelWrapperFunctional"]
