"""`Rewrite`: a rewrite that reads like the pattern it matches.

    class BmmToMm(Rewrite):
        stage = "joint"
        inductor = "joint_graph.py:bmm_to_mm"
        numerics = EXACT

        def pattern(self, a: Tensor, b: Tensor):
            return aten.bmm(a, b)

        def where(self, a: Tensor, b: Tensor):
            return all_of(a.shape[0] == 1, a.device.type != "cpu")

        def replacement(self, a: Tensor, b: Tensor):
            return aten.unsqueeze(aten.mm(aten.squeeze(a, 0), aten.squeeze(b, 0)), 0)

The methods share their variables by name. `where` and `replacement` may take fewer of them, and so
may `pays`, which says whether a match that is right is worth it.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.ir import SSAValue

from xductor.ir import TensorType
from xductor.ir.dialect.registry import UnknownOp
from xductor.ir.functions.torch_spellings import spelled
from xductor.transforms.matching.absent_ops import warn_of_absent_op
from xductor.transforms.matching.declared_values import check_attributes, check_returns
from xductor.transforms.matching.misspellings import check_comparisons, check_members, check_ops
from xductor.transforms.matching.needed_ops import Clauses, needed_ops
from xductor.transforms.matching.pattern_operators import operators_of
from xductor.transforms.matching.patterns import (
    Bound,
    Call,
    Each,
    Item,
    OneOf,
    PatternError,
    Var,
    children,
    variables,
)
from xductor.transforms.matching.plain_patterns import PlainPattern
from xductor.transforms.matching.spellings import Spelling, Spellings
from xductor.transforms.matching.tracing import trace
from xductor.transforms.passes.numerics import Declared, Numerics, NumericsByDtype, numerics_at
from xductor.transforms.passes.permits import Permit
from xductor.transforms.passes.stage import Stage


class Rewrite:
    """A declared rewrite; subclasses are rewrites, instances carry their options.

    Class attributes:

    - `stage`: the stage or stages whose graphs it may see.
    - `numerics`: what an application may change about values, `EXACT` by default; or a mapping
      from dtypes of the first output to that, which excludes outputs of other dtypes.
    - `inductor`: where Inductor has it, `"joint_graph.py:bmm_to_mm"`; empty if nowhere.
    - `name`: by default the class's name in snake_case.
    - `through`: the spellings that matching looks through (`spellings.py`).
    - `devices`: the types of device on which it pays, `("cuda", "xpu")`; it does not run on others,
      though it would be right. Empty: all.
    - `once`: it does not apply to what it, or another rewrite of its name, has made.
    - `permits`: what it may do although the contracts refuse it to others (`passes.permits`).
    - `counter`: a counter of `counters["inductor"]` that each application increments.
    - `position`, `before`, `after`: where in its stage it runs (`xductor.placed`).
    - `keeps`: a variable whose dtype and sizes the output has wherever `where` holds. If they
      surely differ, nothing is matched; this is fast at ops that are common and seldom match.

    Methods: `pattern` (what is matched), `where` (on which facts; a bool, a Fact or `no(reason)`),
    `replacement` (what stands there instead), and optionally `pays` (whether it is worth it;
    answers as `where` does, and may read `x.users`, `x.is_constant` and `x.is_unbacked` besides)
    and `instances`, which yields bindings for validation where generation needs help.

    Raises PatternError, when the class is made, for methods that do not fit together, a misspelt
    member, op or argument (`misspellings.py`), an attribute with a wrong value
    (`declared_values.py`), or a pattern that is no computation.
    """

    stage: ClassVar[Stage | tuple[Stage, ...]]
    numerics: ClassVar[Declared] = "exact"
    inductor: ClassVar[str] = ""
    name: ClassVar[str] = ""
    through: ClassVar[tuple[Spelling, ...]] = ()
    devices: ClassVar[tuple[str, ...]] = ()
    once: ClassVar[bool] = False
    counter: ClassVar[str | None] = None
    permits: ClassVar[Collection[Permit]] = ()
    keeps: ClassVar[str] = ""

    pattern: Callable[..., Any]
    replacement: Callable[..., Any]

    if TYPE_CHECKING:
        where: Callable[..., Any]
        pays: Callable[..., Any]
    else:

        def where(self) -> Any:
            """Accept every match, unless a subclass overrides it."""
            return True

        def pays(self) -> Any:
            """Find every match worth it, unless a subclass overrides it."""
            return True

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if abstract:
            return
        if "name" not in cls.__dict__:
            cls.name = snake_case(cls.__name__)
        _check_class(cls)
        # Traced for the default options, so that a misspelling is an error at import.
        compiled = Compiled(object.__new__(cls))
        if not cls.__module__.startswith("xductor."):
            place = place_of_method(cls.pattern)
            warn_of_absent_op(cls, place, compiled.outputs, stages_of(cls))

    @cached_property
    def compiled(self) -> Compiled:
        """The pattern as data, for these options."""
        return Compiled(self)

    @classmethod
    def qualified_name(cls) -> str:
        """Module and class, which tell rewrites of different libraries apart."""
        return f"{cls.__module__}.{cls.__qualname__}"

    @classmethod
    def record_key(cls) -> str:
        """The key of a rewrite in proofs and validations: pass and class, or the qualified name.

        Rewrites of this project are known by the name of their pass, whatever module they are in.
        """
        ours = cls.__module__.startswith("xductor.")
        return f"{cls.name}:{cls.__qualname__}" if ours else cls.qualified_name()

    @classmethod
    def numerics_of(cls, outputs: Sequence[SSAValue]) -> Numerics | None:
        """What an application to these outputs may change; None if it may not be made."""
        type_: Any = outputs[0].type if outputs else None
        return numerics_at(cls.numerics, type_.dtype if isinstance(type_, TensorType) else None)

    def __getstate__(self) -> dict[str, Any]:
        """The options; the compiled pattern is made again after unpickling."""
        return {name: value for name, value in self.__dict__.items() if name != "compiled"}

    def __repr__(self) -> str:
        return f"<rewrite {self.name}>"


class Compiled:
    """A rewrite's pattern, and the variables that its methods take.

    - `outputs`: the pattern's outputs.
    - `roots`: by the name of each op that may make an output, the op names of which one must make
      an operand of that op; None if the pattern requires nothing there.
    - `needed`: sets of ops, of each of which a graph must hold one.
    - `beside`: if all of several outputs are made from one tensor, by the name of each op that may
      make one the op names of which one must make another; else empty.
    - `plain`: the pattern in a form that needs no search, if it has one.
    - `pays_names`: the variables that `pays` takes; None if the rewrite has no `pays` of its own.
    - `by_dtype`: whether its numerics are declared by dtype.
    """

    def __init__(self, rewrite: Rewrite) -> None:
        self.rewrite = rewrite
        pattern = parameters(rewrite.pattern)
        where = parameters(rewrite.where)
        replacement = parameters(rewrite.replacement)
        self.where_names, self.replacement_names = tuple(where), tuple(replacement)
        asks = type(rewrite).pays is not Rewrite.pays
        self.pays_names = tuple(parameters(rewrite.pays)) if asks else None
        kinds = {name: kind_of_annotation(rewrite, name, note) for name, note in pattern.items()}
        arguments = tuple([Var(name, kind) for name, kind in kinds.items()])
        try:
            with operators_of(stages_of(rewrite)):
                self.outputs = trace(rewrite.pattern, arguments)
        except PatternError as error:
            raise PatternError(_of_pattern(rewrite, error)) from error
        except (TypeError, AttributeError, UnknownOp, RuntimeError) as error:
            raise PatternError(_of_pattern(rewrite, error, _called_instead(error))) from error
        used = {one.name for output in self.outputs for one in variables(output)}
        unused = [name for name in kinds if name not in used]
        if unused:
            raise PatternError(
                f"{rewrite.name}: `pattern` takes {', '.join(unused)} and does not use it"
            )
        self._check_connected()
        self.kinds = kinds
        self.by_dtype = isinstance(rewrite.numerics, NumericsByDtype)
        self.spellings = Spellings(tuple(rewrite.through))
        self.roots = self._roots()
        self.beside = self._beside()
        self.plain = PlainPattern.of(self.outputs, self.spellings, rewrite.keeps)

    @cached_property
    def needed(self) -> Clauses:
        return needed_ops(self.outputs, self._names)

    def _check_connected(self) -> None:
        """Check that each output can be found from the others by a tensor or call they share."""
        apart = [parts_shared(output) for output in self.outputs]
        reached = apart.pop(0)
        while apart:
            near = [one for one in apart if not reached.isdisjoint(one)]
            if not near:
                raise PatternError(
                    f"{self.rewrite.name}: `pattern` returns values that have no tensor in common, "
                    "so that none can be found from another; write a rewrite for each"
                )
            apart = [one for one in apart if reached.isdisjoint(one)]
            reached = reached.union(*near)

    def _roots(self) -> dict[str, frozenset[str] | None]:
        roots: dict[str, frozenset[str] | None] = {}
        for output in self.outputs:
            for call in calls_of(output):
                for head in call.heads:
                    needs = self._needs(head.entries) if len(self.outputs) == 1 else None
                    for name in self._names(head.cls.name):
                        known = roots.get(name, needs)
                        if known is None or needs is None:
                            roots[name] = None
                        else:
                            roots[name] = known | needs
        return roots

    def _beside(self) -> dict[str, frozenset[str]]:
        calls = [makers_of(output) for output in self.outputs]
        heads = [[head for call in made for head in call.heads] for made in calls]
        if len(heads) < 2 or not all(heads) or self.spellings.wrappers:
            return {}
        read = [
            {entry.name for _, entry in head.entries if isinstance(entry, Var)}
            for made in heads
            for head in made
        ]
        tensors = {name for name, kind in self.kinds.items() if kind == "tensor"}
        if not tensors.intersection(*read):
            return {}
        names = [{name for head in made for name in self._names(head.cls.name)} for made in heads]
        beside: dict[str, frozenset[str]] = {}
        for place, own in enumerate(names):
            others = frozenset[str]().union(*names[:place], *names[place + 1 :])
            for name in own:
                beside[name] = beside.get(name, frozenset()) | others
        return beside

    def _names(self, name: str) -> list[str]:
        """An op, and the ops that may be spelled in its place."""
        names = [name, *[here for here, wanted in self.spellings.synonyms if wanted == name]]
        return sorted(spelled(names)) if "pre_grad" in stages_of(self.rewrite) else names

    def _needs(self, entries: tuple[tuple[int | str, Any], ...]) -> frozenset[str] | None:
        if self.spellings.wrappers:
            return None
        needed = makers_of([entry for _, entry in entries])
        heads = [head for call in needed for head in call.heads]
        return frozenset(name for head in heads for name in self._names(head.cls.name)) or None


def _of_pattern(rewrite: Rewrite, error: Exception, instead: str = "") -> str:
    """A message about a pattern that names the rewrite, and the line of it that raised."""
    place = place_of_error(rewrite.pattern, error)
    return f"{rewrite.name}.pattern ({place}): {instead or error}"


#: What torch says where one of its operators, or of its functions, gets a variable of a pattern.
_TORCH_OP = re.compile(r"(\w+)::(\w+)\(\) Expected a value of type")
_TORCH_FUNCTION = re.compile(r"(\w+)\(\): argument '\w+' \(position \d+\) must be .*not")


def _called_instead(error: Exception) -> str:
    """What to write instead of an operator of `torch.ops` or a function of torch; "" if neither."""
    message = str(error)
    op = _TORCH_OP.search(message)
    if op:
        library = op[1] if op[1] in ("aten", "prims") else f"ops.{op[1]}"
        return (
            f"torch.ops.{op[1]}.{op[2]} takes tensors; a pattern is written with the op functions "
            f"of `xductor.ir`: write {library}.{op[2]}(...)"
        )
    function = _TORCH_FUNCTION.search(message)
    if function:
        return (
            f"the function `{function[1]}` of torch takes tensors; a pattern is written with the "
            f"op functions of `xductor.ir`: write aten.{function[1]}(...), or trace the function "
            "with `xductor.pattern_from`"
        )
    return ""


def place_of_error(method: Callable[..., Any], error: BaseException) -> str:
    """The file and the line of a method that raised an error; its first line if it did not."""
    code = getattr(method, "__func__", method).__code__
    frame, place = error.__traceback__, place_of_method(method)
    while frame is not None:
        if frame.tb_frame.f_code is code:
            place = f"{code.co_filename}:{frame.tb_lineno}"
        frame = frame.tb_next
    return place


def place_of_method(method: Callable[..., Any]) -> str:
    """The file and the line of a method."""
    code = getattr(method, "__func__", method).__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def calls_of(output: Any) -> list[Call]:
    """The calls that may make an output."""
    if isinstance(output, OneOf):
        return [call for one in output.alternatives for call in calls_of(one)]
    if isinstance(output, Item):
        return [output.call]
    if isinstance(output, Bound):
        return calls_of(output.pattern)
    return [output] if isinstance(output, Call) else []


def makers_of(entry: Any) -> list[Call]:
    """The calls of which one must make an argument, or be in it if it is a list, wherever this
    sub-pattern matches; none if there need not be any.
    """
    if isinstance(entry, Call | Item):
        return calls_of(entry)
    if isinstance(entry, Bound):
        return makers_of(entry.pattern)
    if isinstance(entry, OneOf):
        ways = [makers_of(one) for one in entry.alternatives]
        return [call for way in ways for call in way] if all(ways) else []
    if isinstance(entry, tuple | list):
        return next(filter(None, map(makers_of, entry)), [])
    return []


def parts_shared(pattern: Any) -> set[Any]:
    """The calls and tensors of a pattern through which a matcher may find another that has them.

    Elements of an `each` are left out, since there may be any number of them.
    """
    if isinstance(pattern, Each):
        return parts_shared(pattern.source)
    if isinstance(pattern, Var):
        return {pattern.name} if pattern.kind == "any" or "tensor" in pattern.kind else set()
    found: set[Any] = {pattern} if isinstance(pattern, Call) else set()
    return found.union(*[parts_shared(part) for part in children(pattern)])


def stages_of(one: Any) -> tuple[Stage, ...]:
    """The stages of a rewrite or a pass."""
    stages: tuple[Any, ...] = (one.stage,) if isinstance(one.stage, str) else tuple(one.stage)
    return stages


def snake_case(name: str) -> str:
    """`BmmToMm` as `bmm_to_mm`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def parameters(method: Callable[..., Any]) -> dict[str, Any]:
    """The variables that a method takes, with their annotations; `self` is left out."""
    code = getattr(method, "__code__", None) or getattr(method, "__func__", method).__code__
    names = code.co_varnames[: code.co_argcount]
    if names[:1] == ("self",):
        names = names[1:]
    notes = getattr(method, "__annotations__", {})
    return {name: notes.get(name, inspect.Parameter.empty) for name in names}


#: What to write for a part that a class lacks.
_WANTED = {
    "stage": "; it is one of 'pre_grad', 'joint', 'post_grad', or a tuple of them",
    "pattern": "; write a method `pattern(self, x: Tensor)` that returns calls of op functions",
    "replacement": "; write a method `replacement(self, x: Tensor)`, or put `abstract=True` behind "
    "the base class as long as there is none",
}


def _check_class(cls: type[Rewrite]) -> None:
    for needed in ("stage", "pattern", "replacement"):
        if not hasattr(cls, needed):
            raise PatternError(f"{cls.__name__} has no `{needed}`{_WANTED.get(needed, '')}")
    check_attributes(cls)
    if isinstance(cls.numerics, Mapping):
        cls.numerics = NumericsByDtype(cls.numerics)
    given = parameters(cls.pattern)
    if cls.keeps and cls.keeps not in given:
        raise PatternError(
            f"{cls.__name__}.keeps is {cls.keeps!r}; `pattern` binds {', '.join(given)}"
        )
    for method in (cls.where, cls.pays, cls.replacement):
        unknown = [name for name in parameters(method) if name not in given]
        if unknown:
            raise PatternError(
                f"{cls.__name__}.{method.__name__} takes {', '.join(unknown)}, which `pattern` "
                f"does not bind; it binds {', '.join(given)}"
            )
    check_members(cls, Rewrite, given)
    check_ops(cls.name, cls.replacement)
    check_returns(cls.name, cls.replacement)
    check_comparisons(cls.name, cls.where)
    check_comparisons(cls.name, cls.pays)


_KINDS: dict[str, str] = {
    "Tensor": "tensor",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "Scalar": "scalar",
    "str": "str",
    "dtype": "dtype",
    "device": "device",
    "layout": "layout",
    "memory_format": "memory_format",
    "Any": "any",
}
_LIST = re.compile(r"(?:list|List|Sequence)\[(.+)\]")


def kind_of_annotation(rewrite: Rewrite, name: str, note: Any) -> str:
    """The kind that a variable's annotation stands for: `Tensor`, `int`, `list[Tensor]`, ...

    Raises PatternError for an annotation without a meaning here, or if there is none.
    """
    if note is inspect.Parameter.empty:
        raise PatternError(
            f"{rewrite.name}: the variable '{name}' has no annotation; say what it is: "
            "Tensor, int, float, bool, Scalar, str, torch.dtype, list[Tensor], Any, ..."
        )
    text = note if isinstance(note, str) else _annotation_text(note)
    found = _LIST.fullmatch(text.strip())
    inner = (found[1] if found else text).strip().rpartition(".")[2]
    kind = _KINDS.get(inner)
    if kind is None:
        raise PatternError(f"{rewrite.name}: the annotation of '{name}', {text}, has no meaning")
    return f"list[{kind}]" if found else kind


def _annotation_text(note: Any) -> str:
    if typing.get_origin(note) is not None:
        return str(note)
    return getattr(note, "__name__", str(note))


__all__ = ["Compiled", "Rewrite", "calls_of", "parameters", "snake_case", "stages_of"]
