"""Reads a graph functionally: the content of each result and each written input, as terms.

Every storage has a content, which a write replaces, and of which a view shows a part at the time of
the read. So a graph with writes and the functional graph that it comes from give the same terms.
`Reading`s made with the same `Terms` can be compared.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import OpResult, SSAValue

from xductor.ir import (
    GetAttrOp,
    GraphOp,
    OutputOp,
    RawOp,
    Ref,
    SchemaOp,
    SymIntType,
    TensorType,
    TorchOp,
    result_aliases,
)
from xductor.ir.effects.effects import Effects
from xductor.ir.storage.sharing import has_own_storage
from xductor.transforms.analysis.effect_order import Silence
from xductor.transforms.analysis.functionalized_calls import is_functionalized
from xductor.transforms.analysis.graphs import facts_of
from xductor.transforms.analysis.op_effects import (
    Bodies,
    effects_of,
    never_writes,
    written_operands,
)
from xductor.transforms.editing.replacement import known_equal
from xductor.transforms.in_place import triton_calls
from xductor.transforms.in_place.functionalized_arguments import (
    Carried,
    carried,
    only_cloned,
    steps_of,
    tensors_of,
    views_of,
    written_names,
)
from xductor.transforms.in_place.in_place_forms import FUNCTIONAL_FORM
from xductor.transforms.in_place.terms import Steps, Terms
from xductor.transforms.in_place.views import (
    SCATTERED,
    arguments_behind,
    frozen,
    step_of,
    view_steps,
    viewed,
)
from xductor.transforms.pieces.regions import KEEP_ORDER

_COPY_INTO = "aten.copy_.default"
_COPY = "aten.copy.default"
_AS_STRIDED = "aten.as_strided.default"
_BOTH_FORMS = frozenset((*FUNCTIONAL_FORM, *FUNCTIONAL_FORM.values()))


class Unreadable(Exception):
    """A graph writes to a storage of which it is unknown which values show it."""


class Reading:
    """One graph, read from its beginning to its end.

    - `outputs`: the content of each result.
    - `outside`: the content at the end of each input, parameter and constant.
    - `sharing`: for each result what shares its storage: an input, or the first such result.
    - `events`: the calls with other effects than writes, in order.

    Raises Unreadable if the graph writes to an unknown storage.
    """

    def __init__(self, graph: GraphOp, bodies: Bodies, terms: Terms) -> None:
        self._bodies = bodies
        self._facts = facts_of(graph)
        self._terms = terms
        self._where: dict[SSAValue, tuple[SSAValue, Steps]] = {}
        self._content: dict[SSAValue, int] = {}
        self._plain: dict[SSAValue, int] = {}
        self._labels: dict[SSAValue, Any] = {}
        self._flat: dict[int, tuple[int, Any]] = {}
        self._unclear: set[SSAValue] = set()
        self._calls = 0
        self._silence = Silence()
        self._computing: dict[type[TorchOp], bool] = {}
        self.events: list[int] = []
        self.outputs: list[int] = []
        self.sharing: list[Any] = []
        for number, argument in enumerate(graph.block.args):
            self._outside(argument, ("input", number))
        for op in graph.block.ops:
            assert isinstance(op, TorchOp)
            self._visit(op)
        self.outside = {self._labels[root]: self._content[root] for root in self._labels}

    def _outside(self, value: SSAValue, label: Any) -> None:
        term = self._terms.term(*label)
        if type(value._type) is TensorType:
            self._root(value, term)
            self._labels[value] = label
        else:
            self._plain[value] = term

    def _root(self, value: SSAValue, content: int) -> None:
        self._where[value] = (value, ())
        self._content[value] = content

    def read(self, value: SSAValue) -> int:
        """The content of a value now."""
        place = self._where.get(value)
        if place is not None:
            root, steps = place
            return self._terms.view(self._content[root], steps)
        if type(value._type) is SymIntType:
            return self._terms.term("symint", value._type.expr)
        return self._plain[value]

    def _write(self, value: SSAValue, content: int) -> None:
        root, steps = self._where[value]
        self._check_clear(root)
        self._content[root] = self._terms.put(self._content[root], steps, content)

    def _visit(self, op: TorchOp) -> None:
        if self._only_computes(type(op)) and "aliases" not in op.properties:
            call = self._terms.term("call", op.name, self._arguments(op), 0)
            for place, result in enumerate(op.results):
                self._result(result, self._terms.term("result", call, place))
        elif isinstance(op, OutputOp):
            self._output(op)
        elif isinstance(op, GetAttrOp):
            self._outside(op.results[0], ("attribute", op.path))
        elif is_functionalized(op) and (call := carried(op)) is not None:
            self._functionalized(op, call)
        elif isinstance(op, RawOp) and op.name == triton_calls.FUNCTIONAL:
            self._functional_kernel(op)
        elif isinstance(op, RawOp) and op.name == triton_calls.MUTATION:
            self._kernel(op)
        elif triton_calls.is_pick(op) and op.results[0] in self._where:
            return
        elif op.name == _COPY_INTO:
            target, source = op._operands[:2]
            self._write(target, self._copied(target._type, source, op))
            self._where[op.results[0]] = self._where[target]
        elif op.name in SCATTERED and self._scattered(op):
            return
        elif not self._viewed(op):
            self._called(op)

    def _only_computes(self, cls: type[TorchOp]) -> bool:
        """Whether a call of a class makes new storages and does nothing else: most calls do."""
        known = self._computing.get(cls)
        if known is None:
            known = self._computing[cls] = (
                self._silence.of(cls)
                and has_own_storage(cls)
                and cls.name != _COPY
                and cls.name not in KEEP_ORDER
                and cls.name not in SCATTERED
            )
        return known

    def _output(self, op: OutputOp) -> None:
        seen: dict[SSAValue, int] = {}
        for number, value in enumerate(op._operands):
            self.outputs.append(self.read(value))
            if value in self._where:
                root = self._where[value][0]
                label = self._labels.get(root)
                self.sharing.append(label or ("result", seen.setdefault(root, number)))
            else:
                self.sharing.append(None)

    def _copied(self, type_: Any, source: SSAValue, op: TorchOp) -> int:
        """The content of a tensor of type `type_` after `source` was copied into it."""
        content, given = self.read(source), source._type
        if type(type_) is not TensorType or type(given) is not TensorType:
            return self._terms.term("copied", content, str(type_))
        if type_.dtype is given.dtype and type_.device == given.device:
            if known_equal(type_.shape, given.shape, self._facts):
                return content
            return self._terms.term("expanded", content, type_.shape)
        return self._terms.term("cast", content, type_.dtype, str(type_.device), type_.shape)

    def _scattered(self, op: TorchOp) -> bool:
        """Read a view scatter: the content of its tensor with the source in a part of it."""
        tensor, source = op._operands[:2]
        base = tensor._type
        if type(base) is not TensorType or type(source._type) is not TensorType:
            return False
        step = step_of(SCATTERED[op.name], arguments_behind(op, 2), base, source._type.shape)
        part = base.data._replace(shape=source._type.shape)
        written = self._copied(TensorType(part), source, op)
        self._root(op.results[0], self._terms.put(self.read(tensor), (step,), written))
        return True

    def _viewed(self, op: TorchOp) -> bool:
        """Read a view, or a copy with its elements in the same order; False for any other op."""
        if op.name == _COPY:
            self._root(op.results[0], self._copied(op._operands[0]._type, op._operands[1], op))
            return True
        if op.name in KEEP_ORDER and self._same_order(op):
            return True
        if not never_writes(type(op)):
            return False
        found: dict[SSAValue, tuple[SSAValue, Steps]] = {}
        for result in op.results:
            base = viewed(result)
            steps = None if base is None else view_steps(result)
            if base is None or steps is None or base not in self._where:
                return False
            restored = self._restored(result, base)
            if restored is not None:
                self._root(result, restored)
                continue
            root, above = self._where[base]
            found[result] = (root, (*above, *steps))
            if _is_strided(result) and op.argument("stride") == (1,):
                self._flat[self._terms.view(self.read(base), steps)] = self.read(base), base._type
        self._where.update(found)
        return bool(op.results)

    def _same_order(self, op: TorchOp) -> bool:
        """Read a copy with the elements of its operand in the same order."""
        result, operand = op.results[0], op._operands[0]
        fact = result_aliases(op)[0]
        if fact is not None and fact[1]:
            return False
        before, after = operand._type, result._type
        if type(before) is not TensorType or type(after) is not TensorType:
            return False
        step = ("reshape", before.shape, after.shape)
        self._root(result, self._terms.view(self.read(operand), (step,)))
        return True

    def _restored(self, result: SSAValue, base: SSAValue) -> int | None:
        """The content of a view of a copied storage, if it equals that of the original tensor.

        Inductor clones in this way to preserve strides and offset.
        """
        known = self._flat.get(self._content.get(base, -1))
        if known is None or self._where[base] != (base, ()) or not _is_strided(result):
            return None
        content, given = known
        found: Any = result._type
        same = (found.shape, found.stride, found.offset, found.dtype)
        return content if same == (given.shape, given.stride, given.offset, given.dtype) else None

    def _called(self, op: TorchOp) -> None:
        """Read any other call: its results, and what it writes, are terms of its arguments."""
        effects = effects_of(op) | self._bodies.effects(op)
        form = FUNCTIONAL_FORM.get(op.name)
        # An operator that got None for what it may write to is carried in functional form too.
        if (
            form is None
            and isinstance(op, SchemaOp)
            and (effects.writes or written_names(op.target))
        ):
            self._operator(op)
            return
        call = self._terms.term(
            "call", form or op.name, self._arguments(op), self._number(op, effects)
        )
        if effects != Effects(alloc=effects.alloc, writes=effects.writes):
            self.events.append(call)
        written = [op._operands[index] for index in written_operands(op, self._bodies)]
        written = [one for one in dict.fromkeys(written) if one in self._where]
        kind = "written" if form is None else "result"
        for place, value in enumerate(written):
            self._write(value, self._terms.term(kind, call, place))
        self._results(op, op.results, call)

    def _operator(self, op: SchemaOp) -> None:
        """Read a mutating operator in the same way as the functionalized calls that carry it."""
        effects = effects_of(op)
        names = written_names(op.target)
        values = dict(zip(op.table.index, op.argument_tree(op.args.data), strict=True))
        written: list[tuple[SSAValue, Steps]] = []
        given: dict[str, Any] = {}
        for name, value in values.items():
            if name in names:
                tensors = [one for one in tensors_of(value) if one in self._where]
                written += [(one, ()) for one in tensors]
                given[name] = tuple([self.read(one) for one in tensors])
            else:
                given[name] = self._tree(value)
        call = self._write_all(op.name, given, written)
        if effects != Effects(alloc=effects.alloc, writes=effects.writes):
            self.events.append(call)
        self._results(op, op.results, call)

    def _write_all(
        self, target: str, given: dict[str, Any], written: list[tuple[SSAValue, Steps]]
    ) -> int:
        """The term of a call of an operator that writes to views of some values."""
        self._calls += 1
        call = self._terms.term("operator", target, tuple(sorted(given.items())), self._calls)
        for place, (value, steps) in enumerate(written):
            root, above = self._where[value]
            self._check_clear(root)
            content = self._terms.term("written", call, place)
            self._content[root] = self._terms.put(self._content[root], (*above, *steps), content)
        return call

    def _results(self, op: TorchOp, results: Any, call: int) -> None:
        written = {op._operands[index] for index in written_operands(op, self._bodies)}
        for place, result in enumerate(results):
            base = viewed(result)
            if base is not None and base in written and base in self._where:
                self._where[result] = self._where[base]
                continue
            self._result(result, self._terms.term("result", call, place))
            if type(result._type) is not TensorType:
                continue
            if base is not None and base in self._where:
                self._unclear |= {result, self._where[base][0]}

    def _result(self, result: SSAValue, term: int) -> None:
        if type(result._type) is TensorType:
            self._root(result, term)
        else:
            self._plain[result] = term

    def _check_clear(self, root: SSAValue) -> None:
        if root in self._unclear:
            raise Unreadable(f"a storage is written of which it is not known what shows it: {root}")

    def _number(self, op: TorchOp, effects: Effects) -> int:
        """A number that tells apart calls that differ although their arguments are equal."""
        if effects.silent:
            return 0
        if op.name in _BOTH_FORMS:
            return 0  # its result depends on its operands alone, in both forms
        self._calls += 1
        return self._calls

    def _arguments(self, op: TorchOp) -> Any:
        terms = [self.read(operand) for operand in op._operands]

        def of(key: Any) -> Any:
            if type(key) is Ref:
                return ("operand", terms[key.index])
            if isinstance(key, tuple):
                return tuple([of(one) for one in key])
            return key

        return of(op.args.key)  # type: ignore[attr-defined]

    def _functionalized(self, op: RawOp, call: Carried) -> None:
        """Read a functionalized call, which writes to its bases or to copies of them."""
        clones = only_cloned(op)
        contents: dict[Any, list[SSAValue]] = {}
        results = iter(op.results[call.returns :])
        for key, base in call.bases.items():
            made = [next(results) for _ in range(_width(base))]
            contents[key] = _tensors(made)
            self._plain |= {one: self._terms.term("none") for one in made}
            for tensor, result in zip(tensors_of(base), contents[key], strict=True):
                if clones is None or key in clones or tensor not in self._where:
                    self._root(result, self.read(tensor))
                else:
                    self._where[result] = self._where[tensor]
        given = {name: self._tree(value) for name, value in call.arguments.items()}
        written: list[tuple[SSAValue, Steps]] = []
        for name, views in call.views.items():
            parts = [(one, steps_of(view, one)) for view in views_of(views)
                     for one in contents[view.base]]  # fmt: skip
            given[name] = tuple([self._part(*part) for part in parts])
            written += parts
        made_call = self._write_all(call.target, given, written)
        self._results(op, op.results[: call.returns], made_call)

    def _functional_kernel(self, op: RawOp) -> None:
        """Read a functional kernel call, with the `getitem`s of its written arguments."""
        self._plain[op.results[0]] = self._terms.term("dict", self._calls)
        if not triton_calls.is_plain(op):
            self._called(op)
            return
        clones, arguments = only_cloned(op), triton_calls.given(op)
        targets: dict[str, SSAValue] = {}
        names = triton_calls.written(op) or []
        for name in names:
            base = arguments[name]
            picks = triton_calls.picked(op, name)
            if clones is None or name in clones:
                if picks:
                    self._root(picks[0], self.read(base))
                    targets[name] = picks[0]
            else:
                targets[name] = base
            if name in targets:
                self._where |= dict.fromkeys(picks, self._where[targets[name]])
        self._write_kernel(op, arguments, targets)

    def _kernel(self, op: RawOp) -> None:
        """Read a mutating kernel call; a pass may have recorded which arguments it writes."""
        names = triton_calls.written(op)
        if names is None:
            self._called(op)
            return
        arguments = triton_calls.given(op)
        self._plain |= {one: self._terms.term("none") for one in op.results}
        self._write_kernel(op, arguments, {name: arguments[name] for name in names})

    def _write_kernel(
        self, op: RawOp, arguments: dict[str, Any], targets: dict[str, SSAValue]
    ) -> None:
        self._calls += 1
        held = tuple(sorted((name, self._tree(value)) for name, value in arguments.items()))
        how = tuple(
            [(name, self._tree(value)) for name, value in triton_calls.settings(op).items()]
        )
        call = self._terms.term("kernel", how, held, self._calls)
        for name, value in targets.items():
            self._write(value, self._terms.term("written", call, name))

    def _part(self, value: SSAValue, steps: Steps) -> int:
        return self._terms.view(self.read(value), steps)

    def _tree(self, value: Any) -> Any:
        if isinstance(value, SSAValue):
            return ("operand", self.read(value))
        if isinstance(value, tuple | list):
            return ("list", *[self._tree(one) for one in value])
        return frozen(value)


def _width(base: Any) -> int:
    return len(base) if isinstance(base, tuple | list) else 1


def _tensors(values: list[Any]) -> list[SSAValue]:
    return [one for one in values if type(one._type) is TensorType]


def _is_strided(result: SSAValue) -> bool:
    return isinstance(result, OpResult) and result.op.name == _AS_STRIDED


__all__ = ["Reading", "Unreadable"]
