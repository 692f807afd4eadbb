"""Passes that rewrite torch-level calls in a canonical spelling, without changing what they do.

Our own passes match every spelling; this is for those of users and of Inductor that run later.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import ArgsAttr, RawOp, TorchOp
from xductor.transforms.analysis.block_order import ops_of
from xductor.transforms.analysis.effect_order import changes_geometry
from xductor.transforms.analysis.graphs import graphs_of
from xductor.transforms.editing.editor import Editor, raw_call_args
from xductor.transforms.passes.typed_pass import TypedPass

#: The op class, positional and keyword arguments of a call; the arguments may hold values.
Written = tuple[type[TorchOp], tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Respelling(TypedPass):
    """Base of passes that respell some calls of a graph."""

    @abstractmethod
    def respelled(self, op: RawOp) -> Written | None:
        """The call in its canonical spelling; None if it stays as it is."""

    def rewrite(self, module: ModuleOp) -> int:
        applied = 0
        for graph in graphs_of(module):
            ops = ops_of(graph.block)
            if any(map(changes_geometry, {type(op) for op in ops})):
                continue  # types of what is changed, and of its views, are not those of the calls
            with Editor(graph) as editor:
                for op in ops:
                    written = self.respelled(op) if op.raw_arguments and op.results else None
                    if written is not None:
                        applied += self._put(op, written, editor)
        return applied

    def _put(self, op: RawOp, written: Written, editor: Editor) -> bool:
        cls, positional, keywords = written
        args, operands = raw_call_args(positional, keywords)
        if cls is type(op) and args == op.args:
            return False
        put_respelled(op, cls, args, operands, editor)
        return True


def put_respelled(
    op: TorchOp, cls: type[TorchOp], args: ArgsAttr, operands: list[SSAValue], editor: Editor
) -> None:
    """Replace a call by another spelling of it, which keeps the value that the call records."""
    types = [result.type for result in op.results]
    aliases: Any = op.properties.get("aliases")
    made = editor.put(
        cls, args, operands, types, op, named=True, structure=op.structure, aliases=aliases
    )
    # To run the call again might take modes that nobody can enter, as within functorch.
    made.attributes["node"] = op.node.respelled()
    editor.replace(op, *made.results)


__all__ = ["Respelling", "Written", "put_respelled"]
