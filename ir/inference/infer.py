"""Infers the types of an op's results by running its target on fake operands.

`infer_types(op, env)` runs PyTorch's meta kernels and remembers the answers by op class,
arguments, operand types, modes and, if symbols are involved, the symbol table. The remembered
answers hold types and names only, no ShapeEnv and no tensor.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses import fake_tensor
from torch.fx.experimental import symbolic_shapes
from xdsl.ir import OpResult, SSAValue

from xductor.ir.dialect.arguments import ArgsAttr, FunctionArg, Handle, leaves
from xductor.ir.dialect.graph import GetAttrOp, GraphOp, OpaqueCallOp, OutputOp
from xductor.ir.dialect.operations import SchemaOp, TorchOp
from xductor.ir.dialect.python_calls import CallArguments, NoPythonValue
from xductor.ir.dialect.results import AliasAttr, Structure
from xductor.ir.dialect.types import Dim, ObjectType, TensorType, symbols_of
from xductor.ir.effects.aliases import needs_storage_check
from xductor.ir.inference.ambient_modes import DEVICES
from xductor.ir.inference.assumptions import (
    assumptions,
    drop_shape_env_caches,
    equations,
    state_of,
)
from xductor.ir.inference.fake_values import FakeEnvironment, NoFakeValue, device_exists, fake_value
from xductor.ir.inference.quiet_kernels import only_fake
from xductor.ir.inference.symbolic_kernels import kernel_for
from xductor.ir.inference.value_types import TypeReader, leaves_of, structure_of
from xductor.ir.python import targets
from xductor.ir.storage.live_storages import shared_storages
from xductor.ir.storage.sharing import result_aliases
from xductor.ir.symbolic.expressions import ExpressionError, SymExpr

if TYPE_CHECKING:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    from xductor.ir.symbolic.symbols import SymbolTable

MEMO_SIZE = 1 << 16


class NotInferred(Exception):
    """The types of an op cannot be found by running it; `reason` is one of a fixed set."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NotApplicable(Exception):
    """The op cannot be applied to operands of these types; the message is PyTorch's."""


class Inferred(NamedTuple):
    """The result of inference.

    - `types`: the types of the leaves of the call's value, in order.
    - `structure`: how the leaves nest.
    - `fresh`: symbols that the call made, which represent the unbacked symbols it binds.
    - `assumed`: assumptions about symbols beyond the known facts, as text.
    - `equated`: symbols of the table that the kernel assumed to equal an expression.
    - `without_grad`: requires_grad is unknown, because autograd cannot run here.
    - `aliases`: the operands with which results share storage, if no schema tells.
    """

    types: tuple[Any, ...]
    structure: Structure
    fresh: frozenset[str]
    assumed: tuple[str, ...]
    equated: tuple[tuple[str, Dim], ...] = ()
    without_grad: bool = False
    aliases: AliasAttr | None = None


_memo: dict[tuple[Any, ...], Inferred | str] = {}
_memo_lock = threading.Lock()


class InferenceEnv:
    """The fake environment in which the ops of one graph are run, made at first use.

    This is a context manager; at its end nothing of the environment is left in torch's own caches.

    - `table`: the graph's symbols.
    - `known`: the live ShapeEnv behind them, only read; None for parsed graphs.
    - `with_grad`: whether types record requires_grad, as before autograd.
    - `modes`: identifies the active modes, if the caller has entered some.
    """

    def __init__(
        self,
        table: SymbolTable,
        known: ShapeEnv | None = None,
        *,
        with_grad: bool = False,
        modes: tuple[Any, ...] = (),
    ) -> None:
        self.table = table
        self.known = known
        self.with_grad = with_grad
        self.modes = modes
        self._identity: tuple[Any, ...] | None = None
        self._fake: FakeEnvironment | None = None
        self._asked = False

    @classmethod
    def of(cls, graph: GraphOp) -> Self:
        """The environment of a graph."""
        live = graph.live
        known = None if live is None else live.types.shape_env
        with_grad = graph.stage.data == "pre_grad"
        modes = () if with_grad else (graph.ambient.data.default_dtype,)
        return cls(graph.symbols.data, known, with_grad=with_grad, modes=modes)

    @property
    def fake(self) -> FakeEnvironment:
        if self._fake is None:
            self._asked = True
            self._fake = FakeEnvironment.from_table(self.table, self.known)
        return self._fake

    @property
    def identity(self) -> tuple[Any, ...]:
        """A key for the facts about symbols that kernels may use."""
        if self._identity is None:
            known: tuple[Any, ...] = ()
            if self.known is not None:
                asserts = self.known.deferred_runtime_asserts.values()
                known = (
                    hash(tuple([guard.expr for guard in self.known.guards])),
                    hash(tuple([row.expr for rows in asserts for row in rows])),
                )
            self._identity = (self.table.text, *known)
        return self._identity

    def renew(self) -> None:
        """Forget what a kernel assumed about symbols."""
        self._fake = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Release the fake environment, which torch's caches would keep alive."""
        if self._asked:
            self._fake = None
            drop_shape_env_caches()


def infer_types(op: TorchOp, env: InferenceEnv) -> list[Any]:
    """The types of an op's results.

    Symbols of data-dependent sizes are fresh (`inferred(op, env).fresh`).

    Raises:
        NotInferred: the op cannot be run on fake values.
        NotApplicable: the op cannot be applied to its operands.
    """
    return list(inferred(op, env)[0].types)


def inferred(op: TorchOp, env: InferenceEnv) -> tuple[Inferred, bool]:
    """The result of inference for an op, and whether it was remembered.

    Raises NotInferred and NotApplicable as `infer_types` does.
    """
    return infer_call(
        type(op), op.args, [operand.type for operand in op._operands], env, op._operands
    )


def infer_call(
    cls: type[TorchOp],
    args: ArgsAttr,
    operand_types: Sequence[Any],
    env: InferenceEnv,
    operands: Sequence[SSAValue] = (),
) -> tuple[Inferred, bool]:
    """The result of inference for a call that need not be an op yet, and whether it was remembered.

    `operands`, if given, tell which of them share storage. Raises NotInferred and NotApplicable as
    `infer_types` does.
    """
    shape = _shape_of(args)
    if shape.live:
        raise NotInferred("live object among the arguments")
    symbolic = shape.symbolic or any(symbols_of(type_) for type_ in operand_types)
    key = (
        cls,
        args,
        *operand_types,
        env.modes,
        env.with_grad,
        env.identity if symbolic else None,
        _sharing(operands) if len(operands) > 1 and needs_storage_check(cls.target) else None,
        functions_of(args),
    )
    found = _memo.get(key)
    if found is None:
        try:
            found = _run(cls, args, operand_types, env, operands)
        except NotInferred as refusal:
            found = refusal.reason
        _remember(key, found)
        remembered = False
    else:
        remembered = True
    if isinstance(found, str):
        raise NotInferred(found)
    return found, remembered


def _sharing(operands: Sequence[SSAValue]) -> tuple[int, ...] | None:
    """For each operand the first one with the same storage; None if no two share storage."""
    roots = [storage_root(operand) for operand in operands]
    if len(set(roots)) == len(roots):
        return None
    return tuple([roots.index(root) for root in roots])


def _remember(key: tuple[Any, ...], found: Inferred | str) -> None:
    with _memo_lock:
        while len(_memo) >= MEMO_SIZE:
            del _memo[next(iter(_memo))]
        _memo[key] = found


def forget() -> None:
    """Drop all remembered answers, after an operator's fake kernel was registered anew."""
    with _memo_lock:
        _memo.clear()


class _Shape(NamedTuple):
    live: bool
    symbolic: bool
    functions: bool


def _shape_of(args: ArgsAttr) -> _Shape:
    """Whether arguments hold live objects, symbols or names of functions; remembered with them."""
    fields: Any = args.__dict__
    known = fields.get("inference_shape")
    if known is None:
        kinds = {type(leaf) for leaf in leaves(args.data)}
        known = fields["inference_shape"] = _Shape(
            Handle in kinds, SymExpr in kinds, FunctionArg in kinds
        )
    return known


def functions_of(args: ArgsAttr) -> tuple[Any, ...]:
    """What the names of functions among arguments stand for now: a name may get another owner."""
    if not _shape_of(args).functions:
        return ()
    names = [leaf.name for leaf in leaves(args.data) if type(leaf) is FunctionArg]
    return tuple([_named(name) for name in names])


def _named(name: str) -> Any:
    try:
        found = targets.resolve(name)
    except LookupError:
        return None
    return found if isinstance(found, Hashable) else name


# Failures that are about fake kernels, not about the op.
_REFUSALS: tuple[tuple[type[BaseException], str], ...] = (
    (fake_tensor.DataDependentOutputException, "data-dependent output"),
    (fake_tensor.DynamicOutputShapeException, "data-dependent output"),
    (fake_tensor.UnsupportedOperatorException, "no fake kernel"),
    (fake_tensor.UnsupportedFakeTensorException, "no fake kernel"),
    (fake_tensor.UnsupportedMutationAliasingException, "no fake kernel"),
    (symbolic_shapes.GuardOnDataDependentSymNode, "depends on a data-dependent size"),
    (NotImplementedError, "no fake kernel"),
    (NoFakeValue, "object, layout or tensor subclass that cannot be faked"),
    (NoPythonValue, "argument without a Python value"),
    (ExpressionError, "symbol outside the table"),
)


_NO_SUCH_DEVICE = re.compile(
    r"not linked with support for \w+ devices|No CUDA GPUs|no NVIDIA driver|not compiled with"
)


def refusal_before_running(op: TorchOp) -> str | None:
    """The reason why an op must not be run to find its types, or None."""
    if isinstance(op, GetAttrOp):
        return "attribute of the module"
    if isinstance(op, OpaqueCallOp):
        return "opaque call"
    if isinstance(op, OutputOp):
        return "output"
    if op.fx_op == "call_module":
        return "call of a submodule"
    if not op.results:
        return "no result"
    target = op.target
    if isinstance(target, OpOverload):
        return None
    if isinstance(target, HigherOrderOperator):
        if op.args.subgraphs:
            return f"subgraphs of {target.name()}"
        return None
    effects = op.effects
    if effects.host or effects.collective:
        return "effect outside the graph"
    return None


def _run(
    cls: type[TorchOp],
    args: ArgsAttr,
    operand_types: Sequence[Any],
    env: InferenceEnv,
    operands: Sequence[SSAValue],
) -> Inferred:
    if any(isinstance(type_, ObjectType) for type_ in operand_types):
        raise NotInferred("object, layout or tensor subclass that cannot be faked")
    fake = env.fake
    before = state_of(fake.shape_env)
    without_grad = env.with_grad and not _can_differentiate(cls, args, operand_types)
    if without_grad:
        operand_types = [_detached(type_) for type_ in operand_types]
    try:
        with only_fake(fake, env.with_grad):
            values = _operand_values(operand_types, operands, fake)
            calls = CallArguments(fake.number, _no_subgraph)
            positional, keywords = calls.of(cls, args.data, values)
            result = _call(cls, positional, keywords)
            reader = TypeReader("pre_grad" if env.with_grad else "joint")
            leaves = list(leaves_of(result))
            types = tuple([reader.type_of(leaf) for leaf in leaves])
            asks = needs_storage_check(cls.target)
            aliases = shared_storages(values, leaves) if asks else None
    except Exception as error:  # a fake kernel may raise anything
        env.renew()
        if _NO_SUCH_DEVICE.search(str(error)):
            raise NotInferred("kernel asks for a device that does not exist here") from error
        for kind, reason in _REFUSALS:
            if isinstance(error, kind):
                raise NotInferred(reason) from error
        raise NotApplicable(_first_line(error)) from error
    fresh = frozenset(reader.symbols - env.table.keys() - env.table.replacements.keys())
    assumed = assumptions(fake.shape_env, before)
    equated = equations(fake.shape_env, before, env.table)
    if assumed or equated:
        env.renew()
    structure = structure_of(result)
    return Inferred(types, structure, fresh, assumed, equated, without_grad, aliases)


def has_backward(op: SchemaOp, env: InferenceEnv) -> bool:
    """Whether autograd can differentiate a call of an operator, as far as trying shows.

    First the dispatcher is asked, then the formula is run on fake gradients, since a custom
    operator has an autograd kernel even if no formula was registered. A formula that fails for
    another reason counts as one.
    """
    types = [operand.type for operand in op._operands]
    if not _has_autograd_kernel(op.target, types):
        return False
    if not _can_differentiate(type(op), op.args, types):
        return True
    try:
        with only_fake(env.fake, env.with_grad), torch.enable_grad():
            values = _operand_values(types, op._operands, env.fake)
            calls = CallArguments(env.fake.number, _no_subgraph)
            positional, keywords = calls.of(type(op), op.args.data, values)
            result = _call(type(op), positional, keywords)
            _go_back([one for one in leaves_of(result) if _requires_grad(one)], values)
    except NotImplementedError:
        return False
    except Exception as error:  # a backward formula may raise anything
        return "no autograd formula" not in str(error)
    finally:
        env.renew()
    return True


def _go_back(results: list[torch.Tensor], operands: list[Any]) -> None:
    if results:
        torch.autograd.grad(
            results,
            [one for one in operands if _requires_grad(one)],
            [torch.ones_like(one) for one in results],
            allow_unused=True,
        )


def _requires_grad(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _has_autograd_kernel(overload: OpOverload, types: Sequence[Any]) -> bool:
    """Whether the dispatcher's autograd kernel does more than warn that there is no formula."""
    schema: Any = overload._schema
    full = f"{schema.name}.{schema.overload_name}".rstrip(".")
    kinds = {type_.device.type for type_ in types if isinstance(type_, TensorType)}
    keys = ["Autograd", "CompositeImplicitAutograd", *(f"Autograd{kind.upper()}" for kind in kinds)]
    return any(
        torch._C._dispatch_has_kernel_for_dispatch_key(full, key)
        or getattr(torch._C.DispatchKey, key, None) in overload.py_kernels
        for key in keys
    )


def _can_differentiate(cls: type[TorchOp], args: ArgsAttr, operand_types: Sequence[Any]) -> bool:
    """Whether all devices in a call exist here, which building an autograd graph requires."""
    devices = [type_.device for type_ in operand_types if isinstance(type_, TensorType)]
    for leaf in leaves(args.data):
        if isinstance(leaf, torch.device):
            devices.append(leaf)
        elif isinstance(leaf, str) and leaf.partition(":")[0] in DEVICES:
            devices.append(torch.device(leaf))
    if cls.fx_op == "call_method" and cls.target in DEVICES:
        devices.append(torch.device(cls.target))
    return all(map(device_exists, devices))


def _detached(type_: Any) -> Any:
    if not isinstance(type_, TensorType) or "requires_grad" not in type_.data.flags:
        return type_
    flags = tuple([flag for flag in type_.data.flags if flag != "requires_grad"])
    return TensorType(type_.data._replace(flags=flags))


def _call(cls: type[TorchOp], positional: list[Any], keywords: dict[str, Any]) -> Any:
    if cls.fx_op == "call_method":
        receiver, *rest = positional
        return getattr(receiver, cls.target)(*rest, **keywords)
    return kernel_for(cls.target, positional)(*positional, **keywords)


def _operand_values(
    types: Sequence[Any], operands: Sequence[SSAValue], fake: FakeEnvironment
) -> list[Any]:
    """A fake value for each operand: the same for a value used twice, one storage for aliases."""
    made: dict[Any, Any] = {}
    storages: dict[SSAValue, dict[torch.dtype, torch.Tensor]] = {}
    values: list[Any] = []
    for index, type_ in enumerate(types):
        operand = operands[index] if operands else None
        if operand is None:
            values.append(fake_value(type_, fake))
            continue
        if operand not in made:
            root = storage_root(operand)
            made[operand] = fake_value(type_, fake, storages.setdefault(root, {}))
        values.append(made[operand])
    return values


def storage_root(value: SSAValue) -> SSAValue:
    """The value whose storage this one shares, as far as the graph tells."""
    while type(value) is OpResult and isinstance(value.op, TorchOp):
        facts = result_aliases(value.op)
        fact = facts[value.index] if value.index < len(facts) else None
        if fact is None:
            break
        # xDSL's own sequence is slow to index
        value = tuple.__getitem__(value.op._operands, fact[0])
    return value


def aliases_above(value: SSAValue) -> Iterator[SSAValue]:
    """The value, the value of which it is a view, and so on up to the one that made the storage."""
    root = storage_root(value)
    while value is not root:
        yield value
        assert isinstance(value, OpResult)
        op: Any = value.op
        fact = result_aliases(op)[value.index]
        assert fact is not None
        value = op._operands[fact[0]]
    yield root


def _no_subgraph(name: str) -> Any:
    raise NoPythonValue(f"subgraph @{name}")


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]


__all__ = [
    "InferenceEnv",
    "Inferred",
    "NotApplicable",
    "NotInferred",
    "aliases_above",
    "forget",
    "has_backward",
    "infer_call",
    "infer_types",
    "inferred",
    "refusal_before_running",
    "storage_root",
]
