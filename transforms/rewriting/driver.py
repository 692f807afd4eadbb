"""Applies declared rewrites to a graph in one walk with a worklist.

Later ops come first, and at one op the rewrites are tried in the order they were given, as in
Inductor's matcher. Ops that an application makes, and the users of what it replaced, are visited
again. An application is built, checked against the contracts, and only then connected.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from heapq import heappop, heappush
from types import FunctionType
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xductor.ir import GraphOp, InferenceEnv, OutputOp, RawOp, TensorType, TorchOp
from xductor.ir.functions.op_functions import building
from xductor.ir.inference.ambient_modes import UnknownMode
from xductor.ir.text.diagnostics import describe
from xductor.transforms.analysis.analyses import analyses_of
from xductor.transforms.analysis.graphs import graphs_of
from xductor.transforms.analysis.op_effects import effects_of
from xductor.transforms.matching.matcher import Match, Matcher
from xductor.transforms.passes.applications import applied
from xductor.transforms.passes.debug_counters import should_apply
from xductor.transforms.passes.events import tell
from xductor.transforms.passes.numerics import ADMITTED, Policy, admits
from xductor.transforms.passes.permits import Permit
from xductor.transforms.passes.refusals import Refused
from xductor.transforms.rewriting.building import NeedsGuard, ReplacementBuilder, Unbuildable
from xductor.transforms.rewriting.contracts import Declined, Violation
from xductor.transforms.rewriting.decisions import Fact, Refusal, Undecided
from xductor.transforms.rewriting.graph_state import GraphState
from xductor.transforms.rewriting.handles import Dim, Opaque, Tensor, handle
from xductor.transforms.rewriting.layouts import lay_out_anew
from xductor.transforms.rewriting.legality import Legality
from xductor.transforms.rewriting.modes import modes_at
from xductor.transforms.rewriting.profit import asked_handles
from xductor.transforms.rewriting.rewrite import Compiled, Rewrite
from xductor.transforms.rewriting.rewrite_index import RewriteIndex

#: How many applications that leave no fewer ops may build on each other before the driver gives up.
#:
#: Those that leave fewer terminate by themselves: a long sum of constants may fold one by one.
MAX_GENERATIONS = 32


NOT_OF_THIS_DTYPE = "its numerics take no output of this dtype, or the policy does not admit them"


class ContractViolation(Exception):
    """A rewrite broke a contract; the message names rewrite, op, user's line and the difference."""


class NoConvergence(Exception):
    """Rewrites match what they made, without end; the message and `names` name them."""

    def __init__(self, message: str, names: tuple[str, ...]) -> None:
        super().__init__(message)
        self.names = names


@dataclass(frozen=True)
class _Lineage:
    """The applications that an op comes from, and how many of them left no fewer ops."""

    rewrites: tuple[Rewrite, ...] = ()
    generations: int = 0


_NO_LINEAGE = _Lineage()


@dataclass
class Application:
    """One application, as the ledger keeps it and as validation takes it.

    The driver tells of it after its checks and before anything is connected: `match`, `made` and
    `new_outputs` are live, and valid until the listener returns. A listener may raise `Declined` or
    `Violation`.
    """

    rewrite: Rewrite
    graph: GraphOp
    match: Match
    made: list[TorchOp]
    new_outputs: list[SSAValue]
    state: GraphState
    checks: list[str] = field(default_factory=list[str])


class Connected(NamedTuple):
    """An application that has been made: the driver tells of it too."""

    application: Application


#: Called with refused applications: `Declined`, `Undecided`, and violations that are not raised.
Report = Callable[[Rewrite, TorchOp, Exception], None]


@dataclass(frozen=True)
class Watch:
    """What a driver does about broken contracts, and which checks are off.

    - `report`: if given, called with each violated contract, which is then skipped, not raised.
    - `unchecked`: no contract is checked. For tests that show what a contract prevents.
    - `any_device`: a rewrite's `devices` are ignored, to try on one device what pays on another.
    - `even_unprofitable`: a rewrite's `pays` is not called, to try what is right but may not pay.
    """

    report: Report | None = None
    unchecked: bool = False
    any_device: bool = False
    even_unprofitable: bool = False


_NOBODY = Watch()
_watch: ContextVar[Watch] = ContextVar("xductor_rewrite_watch", default=_NOBODY)


@contextmanager
def watching(
    *,
    report: Report | None = None,
    unchecked: bool = False,
    any_device: bool = False,
    even_unprofitable: bool = False,
) -> Iterator[None]:
    """Watch every driver that runs inside the block: `report` gets what is refused.

    `unchecked` switches the contracts off: a wrong rewrite then makes a wrong graph. `any_device`
    lets rewrites run on devices on which they do not pay, `even_unprofitable` where their `pays`
    would say no.
    """
    now = _watch.get()
    token = _watch.set(
        Watch(
            report or now.report,
            unchecked or now.unchecked,
            any_device or now.any_device,
            even_unprofitable or now.even_unprofitable,
        )
    )
    try:
        yield
    finally:
        _watch.reset(token)


def on_any_device() -> bool:
    """Whether rewrites run on devices on which they do not pay."""
    return _watch.get().any_device


def takes_unprofitable() -> bool:
    """Whether rewrites run where they would not pay."""
    return _watch.get().even_unprofitable


class Driver:
    """Applies an index of rewrites to modules.

    `policy` says which numerics are admitted; rewrites with others do not run. `watching(...)`
    says what happens to those that are refused.
    """

    def __init__(self, index: RewriteIndex, policy: Policy = "default") -> None:
        self.index = index
        self.policy: Policy = policy
        self.admitted = ADMITTED[policy]
        self.watch = _watch.get()

    def rewrite(self, module: ModuleOp) -> int:
        """Apply the rewrites to all graphs of a module and return the number of applications."""
        return sum(self._graph(graph) for graph in graphs_of(module))

    def _graph(self, graph: GraphOp) -> int:
        analyses = analyses_of(graph)
        work = analyses.named(self.index.roots)
        if not work:
            return 0
        with InferenceEnv.of(graph) as env:
            return _Walk(self, GraphState(graph, analyses.bodies, env, analyses)).run(work)


class _Walk:
    """One walk over one graph."""

    def __init__(self, driver: Driver, state: GraphState) -> None:
        self.driver = driver
        self.state = state
        self.index = driver.index
        self.legality = Legality(state, unchecked=driver.watch.unchecked)
        self.history: dict[TorchOp, _Lineage] = {}
        self.given_up: list[Rewrite] = []
        self.queue: list[tuple[int, int, Any]] = []
        self.queued: set[int] = set()
        self.ticket = 0

    def run(self, work: Sequence[Any]) -> int:
        key = self.state.order.key
        # With the last op first, the list is sorted and so is a heap already.
        self.queue = [(-key(op), number, op) for number, op in enumerate(reversed(work))]
        self.queued.update(map(id, work))
        self.ticket = len(work)
        applied = 0
        while self.queue:
            _, _, op = heappop(self.queue)
            self.queued.discard(id(op))
            if op.parent is None:
                continue
            applied += self._visit(op)
        return applied

    def _next(self) -> int:
        self.ticket += 1
        return self.ticket

    def _push(self, op: Any) -> None:
        if id(op) in self.queued or op.name not in self.index.roots or op.parent is None:
            return
        self.queued.add(id(op))
        heappush(self.queue, (-self.state.order.key(op), self._next(), op))

    def _visit(self, op: TorchOp) -> bool:
        rewrites, admitted = self.index.rewrites, self.driver.admitted
        for number in self.index.candidates(op):
            one = rewrites[number]
            if one.numerics not in admitted and not admits(self.driver.policy, one.numerics):
                continue
            if one.devices and not self._pays_on(op, one.devices):
                continue
            if one.once and any(past.name == one.name for past in self._lineage(op).rewrites):
                continue
            if self.given_up and any(one is past for past in self.given_up):
                continue
            if self._try(one, op):
                return True
        return False

    def _lineage(self, op: TorchOp) -> _Lineage:
        return self.history.get(op, _NO_LINEAGE)

    def _pays_on(self, op: TorchOp, devices: tuple[str, ...]) -> bool:
        """Whether the first result of an op is on a device of one of these types."""
        if self.driver.watch.any_device:
            return True
        type_: Any = op.results[0].type if op.results else None
        return isinstance(type_, TensorType) and type_.device.type in devices

    def _try(self, one: Rewrite, op: TorchOp) -> bool:
        compiled = one.compiled
        try:
            match = self._match(one, compiled, op)
            return match is not None and self._apply(one, compiled, match)
        except (Declined, Undecided) as refusal:
            self._tell(one, op, refusal)
        except UnknownMode as error:
            self._tell(one, op, Declined(f"the modes it stands under are not known: {error}"))
        except NeedsGuard as error:  # a circumstance of the graph, not a fault of the rewrite
            self._tell(one, op, Declined(str(error)))
        except NoConvergence as error:
            self.given_up.append(one)
            if self.driver.watch.report is None:
                raise
            self._tell(one, op, error)
        except Exception as error:  # a rewrite that fails leaves the others alone
            violation = ContractViolation(violation_text(one, op, error))
            violation.__cause__ = error
            if self.driver.watch.report is None:
                raise violation from error
            self._tell(one, op, violation)
        return False

    def _match(self, one: Rewrite, compiled: Compiled, op: TorchOp) -> Match | None:
        if compiled.plain is not None and self.state.graph.stage.data != "pre_grad":
            match = compiled.plain.match(op)
            return match if match is not None and self._takes(one, compiled, match) else None
        matcher = Matcher(self.state.facts, compiled.spellings, self.state.order.before)
        return matcher.match_at(
            compiled.outputs, op, lambda match: self._takes(one, compiled, match)
        )

    def _tell(self, one: Rewrite, op: TorchOp, error: Exception) -> None:
        if self.driver.watch.report is not None:
            self.driver.watch.report(one, op, error)

    def _takes(self, one: Rewrite, compiled: Compiled, match: Match) -> bool:
        """Whether a match passes the rewrite's own condition, is admitted, and pays."""
        if compiled.by_dtype and one.numerics_of(match.outputs) not in self.driver.admitted:
            self._tell(one, match.anchor, Declined(NOT_OF_THIS_DTYPE))
            return False
        if compiled.where_names:
            facts = self.state.facts
            variables = [handle(match.bindings.get(name), facts) for name in compiled.where_names]
            answer = _answer(one.where, variables)
        else:
            answer = one.where()
        if not (answer is True or self._says_yes(one, "where", answer, match)):
            return False
        if compiled.pays_names is None or self.driver.watch.even_unprofitable:
            return True
        answer = _answer(one.pays, asked_handles(match, compiled.pays_names, self.state))
        return self._says_yes(one, "pays", answer, match)

    def _says_yes(self, one: Rewrite, method: str, answer: Any, match: Match) -> bool:
        if answer is True or answer is False:
            return answer
        if isinstance(answer, Refusal):
            self._tell(one, match.anchor, Declined(answer.reason))
            return False
        if isinstance(answer, Fact) and answer.value is None:
            self._tell(one, match.anchor, Undecided(answer))
            return False
        if isinstance(answer, Fact):
            return bool(answer.value)
        raise TypeError(
            f"{one.name}.{method} returned {answer!r}; expected a bool, a fact or no('reason')"
        )

    def _builder(self, match: Match, insertion: TorchOp) -> ReplacementBuilder:
        """The builder of ops that go above `insertion`, from values in scope there."""
        state = self.state
        return ReplacementBuilder(
            state.env,
            state.facts,
            match.anchor.node,
            _tensors(match),
            state.symints,
            lambda value: state.is_above(value, insertion),
            torch_level=isinstance(match.anchor, RawOp),
        )

    def _apply(self, one: Rewrite, compiled: Compiled, match: Match) -> bool:
        state = self.state
        insertion = self.legality.insertion_point(match)
        builder = self._builder(match, insertion)
        try:
            with modes_at(insertion, state):
                outputs = self._replacement(one, compiled, match, builder)
                made = builder.made
                self.legality.check(match, insertion, made, outputs, one.permits)
            checks = [] if self.driver.watch.unchecked else ["contract"]
            application = Application(one, state.graph, match, made, outputs, state, checks)
            if not should_apply(one.name):
                raise Declined("its debug counter says no")
            lineage = self._next_lineage(one, match, made)
            tell(application)
        except BaseException as error:
            builder.discard()
            if isinstance(error, Unbuildable | Violation):
                self.legality.check_recorded(match)
            raise
        self._connect(match, insertion, made, outputs, lineage)
        tell(Connected(application))
        return True

    def _replacement(
        self, one: Rewrite, compiled: Compiled, match: Match, builder: ReplacementBuilder
    ) -> list[Any]:
        variables = [
            handle(match.bindings.get(name), self.state.facts)
            for name in compiled.replacement_names
        ]
        with building(builder):
            returned = one.replacement(*variables)
        if returned is None:
            raise Violation("`replacement` returned nothing; expected what stands in the place")
        outputs = list(returned) if isinstance(returned, tuple | list) else [returned]
        if len(outputs) != len(match.outputs):
            raise Violation(
                f"`replacement` gives {len(outputs)} values for {len(match.outputs)} outputs"
            )
        return [one.value if isinstance(one, Tensor | Opaque | Dim) else one for one in outputs]

    def _next_lineage(self, one: Rewrite, match: Match, made: list[TorchOp]) -> _Lineage:
        """The lineage of the new ops. Raises NoConvergence if it has grown too long."""
        before = [self._lineage(op) for _, op in match.matched_ops()]
        past = max(before, key=lambda found: (found.generations, len(found.rewrites)))
        chain = (*past.rewrites, one)
        generations = past.generations + (len(made) >= len(match.removable()))
        if generations > MAX_GENERATIONS:
            raise _no_convergence(match.anchor, chain[-MAX_GENERATIONS:])
        return _Lineage(chain, generations)

    def _connect(
        self,
        match: Match,
        insertion: TorchOp,
        made: list[TorchOp],
        outputs: list[Any],
        lineage: _Lineage,
    ) -> list[TorchOp]:
        """Puts what was made in its place; returns the readers that were made again behind it."""
        state = self.state
        renewed: list[TorchOp] = []
        for op in made:
            state.put(op, insertion)
            self.history[op] = lineage
        used: list[Any] = []
        for old, new in zip(match.outputs, outputs, strict=True):
            if new is not None and new is not old:
                used += [use.operation for use in old.uses]
                _take_name(old, new, made)
                state.take_over(old, new)
                if _moves(old, new):
                    keeps = _strides(old) == _strides(new)
                    renewed += lay_out_anew(new, state, keeps_strides=keeps)
        state.erase_dead(match.removable(), _is_pure)
        for op in (*made, *used, *renewed):
            self._push(op)
        return renewed


def _moves(old: SSAValue, new: SSAValue) -> bool:
    """Whether views of `new`, standing for `old`, may have other offsets than they had.

    The stride of a dim of size one, which nothing else observes, decides where a slice past its end
    begins.
    """
    before, after = old.type, new.type
    if type(before) is not TensorType or type(after) is not TensorType:
        return False
    return before.offset != after.offset or before.stride != after.stride


def _strides(value: SSAValue) -> tuple[Any, ...]:
    type_: Any = value.type
    return tuple(type_.stride)


def _answer(method: Callable[..., Any], variables: Sequence[Any]) -> Any:
    try:
        return method(*variables)
    except Undecided as error:
        return error.fact


def attempt(driver: Driver, state: GraphState, one: Rewrite, op: TorchOp) -> bool:
    """Apply one rewrite at one op if it matches there; returns whether it was applied."""
    return _Walk(driver, state)._try(one, op)


class Replaced(NamedTuple):
    """What a procedure has made, and the readers that had to be made again behind it."""

    made: list[TorchOp]
    renewed: list[TorchOp]


class Procedure:
    """Replaces what a procedural pass found by what it makes, under the contracts of rewrites.

    Used for one graph, inside its `InferenceEnv`; `name` is the name of the pass, and `permits`
    what it may do although other passes may not. `refused` gets what the pass leaves alone.
    """

    def __init__(
        self,
        name: str,
        state: GraphState,
        permits: Collection[Permit] = (),
        refused: Refused | None = None,
    ) -> None:
        self.name = name
        self.state = state
        self.permits = permits
        self._refused = refused
        self._walk = _Walk(Driver(RewriteIndex(())), state)

    def refuse(self, op: TorchOp, reason: object) -> None:
        """Tell that an op is left alone, and why."""
        if self._refused is not None:
            self._refused(op, str(reason))

    def replace(self, match: Match, build: Callable[[], Any], *, strides: bool = True) -> Replaced:
        """Replace the outputs of a match by what `build` makes with op functions.

        `match.bindings` has the tensors whose sizes may be used. The graph is unchanged if this
        raises.

        - `strides`: outputs must keep those that somebody sees; else the caller knows that all
          readers can follow (`layouts.check_followers`).

        Raises:
            Declined, Unbuildable, UnknownMode: If the graph does not allow it.
            ContractViolation: If the procedure is at fault.
        """
        state, anchor = self.state, match.anchor
        insertion = self._walk.legality.insertion_point(match)
        builder = self._walk._builder(match, insertion)
        try:
            with modes_at(insertion, state):
                with building(builder):
                    built = build()
                values = built if isinstance(built, list) else [built]
                outputs = [one.value for one in values]
                self._walk.legality.check(
                    match, insertion, builder.made, outputs, self.permits, strides=strides
                )
            if not should_apply(self.name):
                raise Declined("its debug counter says no")
        except BaseException as error:
            builder.discard()
            if isinstance(error, Unbuildable | Violation):
                self._walk.legality.check_recorded(match)
            if isinstance(error, Violation):
                text = describe(anchor, f"pass {self.name}: {error}")
                raise ContractViolation(text) from error
            raise
        applied(anchor, *outputs)
        made = builder.made
        return Replaced(made, self._walk._connect(match, insertion, made, outputs, _NO_LINEAGE))


def _no_convergence(op: TorchOp, chain: tuple[Rewrite, ...]) -> NoConvergence:
    names = tuple(dict.fromkeys(one.name for one in chain))
    if len(names) == 1:
        problem = f"rewrite {names[0]} matches its own result"
        hint = "let `where` refuse what it makes, or give the rewrite `once = True`"
    else:
        problem = f"rewrites {' and '.join(names)} match each other's results"
        hint = "let `where` of one refuse what the other makes"
    problem += (
        f", and did not converge: {MAX_GENERATIONS} applications, each on what the last one made, "
        "left no fewer ops"
    )
    return NoConvergence(describe(op, problem, hint=hint), names)


def _take_name(old: SSAValue, new: SSAValue, made: Sequence[TorchOp]) -> None:
    """Give an op that replaces one of the same class, with as many results, that op's name."""
    before: Any = old.owner
    after: Any = new.owner
    is_made = isinstance(after, TorchOp) and type(after) is type(before) and after in made
    if is_made and len(after.results) == len(before.results):
        after.attributes["node"] = after.node.renamed(before.node.names, before.node.node)


def _is_pure(op: TorchOp) -> bool:
    if type(op) is OutputOp or op.fx_op != "call_function" or op.raw_arguments:
        return False
    return effects_of(op).removable(fallback_random=True)


def _tensors(match: Match) -> list[SSAValue]:
    """The tensors that a match binds or makes, bound ones first."""
    found: list[SSAValue] = []

    def add(item: Any) -> None:
        if isinstance(item, SSAValue):
            found.append(item)
        elif isinstance(item, list):
            for part in item:
                add(part)

    for item in match.bindings.values():
        add(item)
    return found


def violation_text(one: Rewrite, op: TorchOp, error: Exception) -> str:
    """The message of a broken contract, or of a method of the rewrite that failed."""
    if isinstance(error, Violation | Unbuildable):
        return describe(op, f"rewrite {one.name}: {error}")
    place = _place_in(one, error)
    return describe(op, f"rewrite {one.name}{place}: {type(error).__name__}: {error}")


def _place_in(one: Rewrite, error: Exception) -> str:
    """The rewrite's method that an error came from, with file and line; "" if there is none."""
    files = {
        function.__code__.co_filename
        for owner in type(one).__mro__[: type(one).__mro__.index(Rewrite)]
        for function in vars(owner).values()
        if isinstance(function, FunctionType)
    }
    found = [
        f".{code.co_name} ({code.co_filename}:{line})"
        for frame, line in traceback.walk_tb(error.__traceback__)
        for code in (frame.f_code,)
        if code.co_filename in files
    ]
    return found[-1] if found else ""


__all__ = [
    "Application",
    "Connected",
    "ContractViolation",
    "Driver",
    "NoConvergence",
    "Procedure",
    "Report",
    "RewriteIndex",
    "Watch",
    "attempt",
    "on_any_device",
    "takes_unprofitable",
    "watching",
]
