"""Records of single applications, which are turned into text when they are first read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from xdsl.ir import Operation, SSAValue

from xductor.ir import TorchOp
from xductor.ir.dialect.metadata import user_location
from xductor.transforms.passes.numerics import numerics_text

if TYPE_CHECKING:
    from xductor.transforms import TypedPass
    from xductor.transforms.rewriting.driver import Application


@dataclass(frozen=True)
class ApplicationRecord:
    """One application of a rewrite or of a procedural pass, as text: it keeps no graph alive.

    - `rewrite`: the name of the rewrite, or of the pass if that is procedural.
    - `where`: file and line of the user's code, if known; `anchor`: the op that was replaced, moved
      or erased.
    - `bindings`: the variables of a declared rewrite by name; `before`, `after`: the types of the
      outputs. A procedural pass binds nothing, and has no new types for what it erases or moves.
    - `checks`: the levels of checks that the application passed.
    - `in_pass`: the pass that the rewrite ran in; `number`: the application's number, 0 if no debug
      counter was asked.
    - `source`: module and class of the rewrite, which tell rewrites of the same name apart.
    """

    rewrite: str
    anchor: str
    where: tuple[str, int] | None
    bindings: dict[str, str]
    before: tuple[str, ...]
    after: tuple[str, ...]
    numerics: str
    checks: tuple[str, ...]
    in_pass: str = ""
    number: int = 0
    source: str = ""


class Note(NamedTuple):
    """What an application's record is made from: types and names, nothing of the graph itself.

    `place` is file and line, or the stack trace from which they can be taken.
    """

    rewrite: str
    anchor: str
    place: tuple[str, int] | str | None
    bindings: Mapping[str, Any]
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    numerics: str
    checks: tuple[str, ...]
    in_pass: str
    number: int
    source: str

    @classmethod
    def of(cls, application: Application, in_pass: str, number: int) -> Note:
        """The note on an application of a declared rewrite."""
        match, rewrite = application.match, application.rewrite
        return cls(
            rewrite.name,
            match.anchor.name,
            _place(match.anchor),
            {name: _kept(item) for name, item in match.bindings.items()},
            tuple([value.type for value in match.outputs]),
            tuple([value.type for value in application.new_outputs if value is not None]),
            rewrite.numerics_of(match.outputs) or "",
            tuple(application.checks),
            in_pass,
            number,
            rewrite.qualified_name(),
        )

    @classmethod
    def of_op(cls, one: TypedPass, op: Operation, new: Sequence[SSAValue], number: int) -> Note:
        """The note on an application of a procedural pass."""
        source = f"{type(one).__module__}.{type(one).__qualname__}"
        before = tuple([value.type for value in op.results])
        after = tuple([value.type for value in new])
        place = _place(op)
        return cls(
            one.name,
            op.name,
            place,
            {},
            before,
            after,
            numerics_text(one.numerics),
            (),
            one.name,
            number,
            source,
        )

    def record(self) -> ApplicationRecord:
        return ApplicationRecord(
            self.rewrite,
            self.anchor,
            user_location(self.place) if isinstance(self.place, str) else self.place,
            {name: _shown(item) for name, item in self.bindings.items()},
            tuple(map(str, self.before)),
            tuple(map(str, self.after)),
            self.numerics,
            self.checks,
            self.in_pass,
            self.number,
            self.source,
        )


class Applications(Sequence[ApplicationRecord]):
    """Records in order, made from notes when the first is looked at: most never are."""

    def __init__(self, of: Iterable[Note | ApplicationRecord] = ()) -> None:
        self._of = tuple(of)

    def _records(self) -> tuple[ApplicationRecord, ...]:
        made = tuple([one.record() if isinstance(one, Note) else one for one in self._of])
        self._of = made
        return made

    @overload
    def __getitem__(self, index: int) -> ApplicationRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ApplicationRecord]: ...
    def __getitem__(self, index: int | slice) -> ApplicationRecord | Sequence[ApplicationRecord]:
        return self._records()[index]

    def __iter__(self) -> Iterator[ApplicationRecord]:
        return iter(self._records())

    def __len__(self) -> int:
        return len(self._of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Applications) and self._records() == other._records()

    def __hash__(self) -> int:
        return hash(len(self._of))

    def __repr__(self) -> str:
        return repr(self._records())


def _place(op: Operation) -> tuple[str, int] | str | None:
    if not isinstance(op, TorchOp):
        return None
    node = op.node
    if node.loc is not None or node.origin is None:
        return node.loc
    return node.origin.meta.get("stack_trace")


def _kept(item: Any) -> Any:
    """What is kept of a binding: the type of a value, or a constant as it is."""
    if isinstance(item, SSAValue):
        return item.type
    return [_kept(part) for part in item] if isinstance(item, list) else item


def _shown(item: Any) -> str:
    if isinstance(item, list) and not all(type(part) is int for part in item):
        return f"[{', '.join(_shown(part) for part in item)}]"
    return str(item)


__all__ = ["ApplicationRecord", "Applications", "Note"]
