"""Symbolic instances of a rewrite: one for each rank, dtype, attribute and branch of `where`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from xductor.ir import ListArg, SchemaOp, TorchOp
from xductor.ir.functions.op_functions import BoundCall, building
from xductor.ir.functions.torch_calls import call_meant
from xductor.transforms.explaining.where_answers import refusal_of
from xductor.transforms.proving import domains
from xductor.transforms.proving.mutations import Mutation
from xductor.transforms.proving.path_world import Limits, Obligation, PathWorld
from xductor.transforms.proving.paths import Path, Pruned, Refused, Unmade
from xductor.transforms.proving.pattern_runs import PatternRun, Slot
from xductor.transforms.proving.solving.solver import Assumptions, has_elements
from xductor.transforms.proving.symbolic import (
    NotSymbolic,
    Reads,
    SizeKnowledge,
    SymbolicDim,
    SymbolicNumber,
    SymbolicTensor,
    condition_of,
    expression_of,
    term_of,
)
from xductor.transforms.rewriting.decisions import Fact, Refusal, deciding
from xductor.transforms.rewriting.handles import Dim
from xductor.transforms.rewriting.rewrite import Rewrite
from xductor.transforms.semantics.registry import meaning_of
from xductor.transforms.semantics.scalars import FLOATS, INTEGERS, KNOWN
from xductor.transforms.semantics.terms import (
    FALSE,
    Term,
    element,
    le,
    scalar,
)
from xductor.transforms.semantics.values import Illegal, NoMeaning, TensorValue

#: The largest rank that is tried for each tensor variable, by the number of tensor variables.
LARGEST_RANK = {0: 5, 1: 5, 2: 4, 3: 3, 4: 2}


_ANY = object()


@dataclass
class Instance:
    """Source and target of one path, and what holds on it.

    - `sizes`: the first and the last size of each of the first two tensors.
    """

    path: Path
    assumptions: Assumptions
    source: list[Any]
    target: list[Any]
    obligations: list[Obligation]
    bindings: dict[str, Any]
    fillings: list[Any]
    dtypes: tuple[torch.dtype, ...]
    ranks: tuple[int, ...]
    bounds: list[str]
    problem: str = ""
    variables: dict[str, Term] = field(default_factory=dict[str, Term])
    sizes: tuple[Term, ...] = ()


class SymbolicFiller:
    """Gives symbolic values for what a pattern leaves open."""

    def __init__(self, world: PathWorld, limits: Limits, reads: Reads) -> None:
        self.world = world
        self.limits = limits
        self.reads = reads
        self.knowledge = SizeKnowledge(world.is_static)
        self.fillings: list[Any] = []
        self.dtypes: list[torch.dtype] = []
        self.ranks: list[int] = []
        self.sizes: dict[Term, None] = {}
        self.device = ""
        self.free_dtypes: list[torch.dtype] = []
        self.unlike: list[str] = []
        self.dim: int | None = None
        self._has_list = False
        self._count = 0

    def _kept(self, made: Any) -> Any:
        self.fillings.append(made)
        return made

    def alternative(self, count: int, what: str) -> int:
        return self._kept(self.world.path.choose(range(count), what))

    def variable(self, name: str, kind: str, slot: Slot) -> Any:
        if kind == "any":
            return self._kept(self._of_kind(name, slot.kind, slot))
        return self._kept(self._of_kind(name, kind, replace(slot, optional=False)))  # never None

    def anything(self, slot: Slot) -> Any:
        name = self._fresh(slot.param)
        literals = domains.literals(slot)
        if literals:
            chosen = self._listed((*literals, _ANY), name)
            if chosen is not _ANY:
                return self._kept(chosen)
        return self._kept(self._of_kind(name, slot.kind, slot))

    def _fresh(self, name: str) -> str:
        self._count += 1
        return f"{name or 'v'}{self._count}"

    def _of_kind(self, name: str, kind: str, slot: Slot) -> Any:
        if kind == "tensor":
            return self.tensor(name, slot)
        if kind == "list[tensor]":
            return self._tensors(name, slot)
        if kind == "int":
            return self._integer(name, slot)
        if kind == "list[int]":
            return self._integers(name, slot)
        if kind in ("scalar", "float"):
            return self._number(name, kind)
        if kind == "device" and len(self.limits.devices) > 1:
            unsaid = [None] if slot.optional else []
            return self._listed([*unsaid, *map(torch.device, self.limits.devices)], name)
        return self._listed(domains.constants(kind, slot), name)

    def _listed(self, options: Sequence[Any], what: str) -> Any:
        return self.world.path.choose(options, what)

    def _bounded(self, bound: str) -> None:
        if bound and bound not in self.world.bounds:
            self.world.bounds.append(bound)

    def tensor(self, name: str, slot: Slot) -> SymbolicTensor:
        """A tensor of any sizes."""
        return self._made(name, self._rank(name, slot), self._dtype(name, slot))

    def _tensors(self, name: str, slot: Slot) -> list[SymbolicTensor]:
        """Tensors that differ only in size, or of which one has another dtype or rank."""
        longest = self.limits.longest_list
        count = self._length(range(1, longest + 1), name)
        if count > 1:
            self._bounded(
                f"lists of at most {longest} tensors; of two or three of them, of rank "
                f"{domains.ODD_RANK} at most, one may be unlike the others in dtype or rank"
            )
        self._has_list = True
        rank, dtype = self._rank(name, slot), self._dtype(name, slot)
        odd, what = self._listed(
            [(-1, ""), *domains.odd_ones(count, rank)], f"which one of {name} is unlike the others"
        )
        odd_rank = 1 if what == "rank" else rank
        odd_dtype = self._other_dtype(name, dtype, what, count) if what else dtype
        self.free_dtypes.append(odd_dtype)
        return [
            self._made(f"{name}_{k}", odd_rank, odd_dtype)
            if k == odd
            else self._made(f"{name}_{k}", rank, dtype)
            for k in range(count)
        ]

    def _other_dtype(self, name: str, dtype: torch.dtype, what: str, count: int) -> torch.dtype:
        """The dtype of the one tensor of a list that is unlike the others."""
        others = [one for one in self._others() if one is not dtype]
        if count > 2 or what == "rank":
            others = others[-2:-1]
        return self._listed([dtype, *others] if what == "rank" else others, f"its dtype in {name}")

    def _made(self, name: str, rank: int, dtype: torch.dtype) -> SymbolicTensor:
        if not self.device:
            self.device = self._listed(self.limits.devices, "device")
        sizes = [self.world.variable(f"{name}_{k}") for k in range(rank)]
        for size in sizes:
            self.world.assumptions.add(le(0, size))
        if len(self.ranks) < 2:
            self._note_sizes(sizes)
        self.ranks.append(rank)
        self.dtypes.append(dtype)
        value = TensorValue(
            sizes,
            dtype,
            lambda index: element(name, index, dtype),
            device=torch.device(self.device),
            on_dtype=self._note_dtype,
        )
        return SymbolicTensor(value, self.knowledge, self.reads, self.world.size, name, True)

    def _note_sizes(self, sizes: Sequence[Term]) -> None:
        self.sizes.update(dict.fromkeys((*sizes[:1], *sizes[-1:])))

    def _note_dtype(self) -> None:
        self.reads.dtype = True

    def _rank(self, name: str, slot: Slot) -> int:
        options = domains.ranks(slot, self.limits.rank)
        self.reads.several_ranks |= len(options) > 1
        return self._listed(options, f"rank of {name}")

    def _length(self, options: Sequence[int], name: str) -> int:
        """The length of a list that no tensor determines."""
        count = self._listed(options, f"length of {name}")
        self.reads.lengths.setdefault(name, set()).add(count)
        return count

    def _others(self) -> tuple[torch.dtype, ...]:
        """The dtypes that a tensor may have besides that of another.

        If one dtype stands for all, a second one shows whether two that differ are accepted.
        """
        return domains.OTHER_DTYPES if len(self.limits.dtypes) > 1 else (torch.int64,)

    def _dtype(self, name: str, slot: Slot) -> torch.dtype:
        allowed = domains.dtypes(slot, self.limits.dtypes)
        if allowed is not self.limits.dtypes:
            return self._listed(allowed, f"dtype of {name}")
        known = list(dict.fromkeys(self.free_dtypes))
        if known:
            self.unlike.append(name)
            others = self._others()
            if len(self.free_dtypes) > 1:  # for further tensors: the known dtypes, or one more
                others = others[-2:-1] if len(known) == 1 else ()
            allowed = tuple(dict.fromkeys((*known[:2], *others)))
        self.free_dtypes.append(self._listed(allowed, f"dtype of {name}"))
        return self.free_dtypes[-1]

    def note_unlike_dtypes(self) -> None:
        """Record the bound of an accepted instance whose tensors differ in dtype.

        If one dtype stood for all, it no longer does.
        """
        if len(set(self.free_dtypes)) < 2:
            return
        self._note_dtype()
        if self.unlike and len(self.limits.dtypes) > 1:
            others = ", ".join(str(one).removeprefix("torch.") for one in domains.OTHER_DTYPES)
            self._bounded(
                f"dtypes of {', '.join(self.unlike)} that are not those of other tensors: {others}"
            )

    def _integer(self, name: str, slot: Slot) -> Any:
        if slot.param in domains.DIMS:
            return self._dim(domains.dims(slot), name)
        if self.limits.listed_ints:
            self._bounded(f"integer attributes in {list(domains.INTEGERS)}")
            return self._listed(domains.INTEGERS, name)
        made = self.world.variable(name)
        return SymbolicDim(self._expression(made), self.knowledge, self.reads)

    def _dim(self, options: list[int], name: str) -> int:
        """A dim; of high rank beside a list of tensors, counted from the same end as the first.

        There are many instances with lists, and they are never complete anyway.
        """
        if self._has_list and self.dim is not None and len(options) > 2 * domains.MIXED_RANK:
            self._bounded(f"dims of rank above {domains.MIXED_RANK}: all from the same end")
            return self._listed(domains.from_one_end(options, self.dim), name)
        found = self._listed(options, name)
        self.dim = found if self.dim is None else self.dim
        return found

    def _expression(self, item: Term) -> Any:
        return expression_of(item, self.world.size)

    def _integers(self, name: str, slot: Slot) -> Any:
        if slot.param in ("dims", *domains.DIMS):
            self._bounded(domains.left_out_of_dim_lists(slot))
            return ListArg(self._listed(domains.dim_lists(slot), name))
        limits = self.limits
        options = domains.lengths(slot, limits.rank, limits.longest_shape)
        count = self._length(options, name)
        made_here = domains.is_made(slot)
        if made_here:
            self.reads.several_ranks = True
        if not domains.is_complete_length(slot) and count == domains.longest_list(slot):
            self._bounded(f"lists of at most {count} integers")
        unknown = -1
        if domains.has_minus_one(slot):
            unknown = self._listed(range(-1, count), f"the place of -1 in {name}")
        items: list[Any] = []
        sizes: list[Term] = []
        for k in range(count):
            if k == unknown:
                items.append(-1)
            elif self.limits.listed_ints:
                self._bounded(f"integer attributes in {list(domains.INTEGERS)}")
                items.append(self._listed(domains.INTEGERS, f"{name}[{k}]"))
            else:
                made = self.world.variable(f"{name}_{k}")
                items.append(SymbolicDim(self._expression(made), self.knowledge, self.reads))
                sizes.append(made)
        if made_here:
            if not self.ranks:
                self._note_sizes(sizes)
            self.ranks.append(count)
        return ListArg(items)

    def _number(self, name: str, kind: str) -> Any:
        if self.limits.listed_numbers:
            self._bounded("number attributes of a list")
            numbers = [one for one in domains.NUMBERS if kind == "scalar" or type(one) is float]
            return self._listed(numbers, name)
        kinds = (torch.float64, torch.int64) if kind == "scalar" else (torch.float64,)
        return SymbolicNumber(scalar(name, self._listed(kinds, f"kind of {name}")))


def unwrapped(item: Any) -> Any:
    """An argument as meanings take it."""
    if isinstance(item, SymbolicTensor):
        return item.meaning
    if isinstance(item, Dim):
        return term_of(item.expr)
    if type(item) is SymbolicNumber:
        return item.term
    if isinstance(item, list | tuple):
        return [unwrapped(one) for one in item]
    return item


class MeaningCalls:
    """Evaluates calls of ops by their meanings; `used` has the names of the ops."""

    def __init__(self, world: PathWorld, filler: SymbolicFiller) -> None:
        self.world = world
        self.filler = filler
        self.used: set[str] = set()
        self._made = 0

    def __call__(self, cls: type[TorchOp], items: tuple[Any, ...]) -> Any:
        function = meaning_of(cls.name)
        self.used.add(cls.name)
        if function is None or not issubclass(cls, SchemaOp):
            raise NoMeaning(f"{cls.name} has no meaning yet")
        found = function(self.world, *[unwrapped(item) for item in items])
        if isinstance(found, list | tuple):
            return [self._handle(one) for one in found]
        return self._handle(found)

    def _handle(self, value: TensorValue) -> SymbolicTensor:
        filler = self.filler
        self._made += 1
        strides = f"result{self._made}"
        return SymbolicTensor(value, filler.knowledge, filler.reads, self.world.size, strides)

    # As the builder of a replacement.

    def call(self, name: str, calls: list[BoundCall]) -> Any:
        return self(calls[0].cls, calls[0].args)

    def raw_call(self, cls: type[TorchOp], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = call_meant(cls, args, kwargs)
        if call is None:
            raise NoMeaning(f"{cls.name} has no meaning yet")
        return self(call.cls, call.args)


def make_instance(
    rewrite: Rewrite,
    path: Path,
    limits: Limits,
    reads: Reads,
    used: set[str],
    mutation: Mutation | None = None,
) -> Instance:
    """The instance of one path. Raises Pruned if the rewrite does not apply on it."""
    world = PathWorld(path)
    filler = SymbolicFiller(world, limits, reads)
    calls = MeaningCalls(world, filler)
    calls.used = used
    run = PatternRun(rewrite.compiled, filler, calls)
    asked = reads.dtype
    try:
        source = run.outputs()
    except Pruned:  # because of its sizes, which do not depend on dtypes
        reads.dtype = asked
        raise
    except Illegal as error:
        raise Unmade(str(error)) from error
    # For what `where` refuses, only the dtypes that `where` itself asked for matter.
    reads.dtype, asked = asked, reads.dtype
    if mutation is None or not mutation.drops_condition:
        _answer_where(rewrite, run.bindings, world, limits.explain)
    reads.dtype |= asked
    if not world.assumptions.possible():
        raise Pruned("the hypothesis cannot be")
    filler.note_unlike_dtypes()
    instance = Instance(
        path,
        world.assumptions,
        source,
        [],
        world.obligations,
        run.bindings,
        filler.fillings,
        tuple(filler.dtypes),
        tuple(filler.ranks),
        world.bounds,
        variables=world.variables,
        sizes=tuple(filler.sizes),
    )
    _add_target(rewrite, instance, world, calls, mutation)
    return instance


def _answer_where(
    rewrite: Rewrite, bindings: dict[str, Any], world: PathWorld, explain: bool
) -> None:
    arguments = [bindings.get(name) for name in rewrite.compiled.where_names]
    try:
        with deciding(world.decide):
            answer = _called(rewrite.where, arguments, "where")
            if explain and answer is False:
                raise Refused(refusal_of(rewrite.where, arguments) or "`where` says no")
    except Illegal as error:
        raise Refused(str(error)) from error
    condition = condition_of(answer)
    if condition is FALSE:
        raise Refused(_why_not(answer))
    if has_elements(condition):
        # About a number that is an attribute: it holds on this path, and no size depends on it.
        world.assumptions.add(condition)
        return
    try:
        world.assume(condition)
    except Pruned as error:
        raise Refused(_why_not(answer)) from error


def _why_not(answer: Any) -> str:
    """Why `where` refuses, from its answer."""
    if isinstance(answer, Refusal):
        return f"`where` says no: {answer.reason}"
    if isinstance(answer, Fact):
        return f"`where` says no: not true that {answer.text}"
    return "`where` says no"


def _called(method: Any, arguments: list[Any], name: str) -> Any:
    """Call a method of the rewrite on symbolic values, and report what it cannot do with them."""
    try:
        return method(*arguments)
    except (Pruned, NotSymbolic, NoMeaning, Illegal):
        raise
    except IndexError as error:  # a dim that a tensor of this rank does not have
        raise Illegal(f"`{name}` raises IndexError: {error}") from error
    except (TypeError, AttributeError, ValueError, ZeroDivisionError) as error:
        raise NotSymbolic(f"`{name}` on symbolic values: {error}") from error


def _add_target(
    rewrite: Rewrite,
    instance: Instance,
    world: PathWorld,
    calls: MeaningCalls,
    mutation: Mutation | None,
) -> None:
    names = rewrite.compiled.replacement_names
    world.begin_target()
    builder: Any = calls
    if mutation is not None:
        mutation.begin()
        builder = mutation.builder(calls)
    try:
        with deciding(world.decide), building(builder):
            made = _called(
                rewrite.replacement, [instance.bindings.get(name) for name in names], "replacement"
            )
    except Illegal as error:
        instance.problem = f"the replacement is refused: {error}"
        return
    found = list(made) if isinstance(made, tuple | list) else [made]
    if mutation is not None:
        found = mutation.outputs(found, calls)
    if len(found) != len(instance.source):
        instance.problem = (
            f"the replacement gives {len(found)} values for {len(instance.source)} outputs"
        )
    instance.target = found


__all__ = [
    "FLOATS",
    "INTEGERS",
    "KNOWN",
    "LARGEST_RANK",
    "Instance",
    "Limits",
    "MeaningCalls",
    "Obligation",
    "PathWorld",
    "SymbolicFiller",
    "make_instance",
    "unwrapped",
]
