"""What is misspelt in the class of a rewrite is an error when the class is made."""

from __future__ import annotations

import dis
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
import torch

from xductor import Rewrite, Tensor, each
from xductor.ir import aten as _aten
from xductor.ir import ops
from xductor.ir import prims as _prims
from xductor.ir.functions.op_functions import OpFunction, RawFunction
from xductor.transforms.matching import misspellings
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.passes.declared_attributes import codes

aten: Any = _aten  # the stubs know what is misspelt, too
prims: Any = _prims
OPS: Any = ops
ADD: Any = aten.add
FUNCTIONAL = ops.pyfn.torch.nn.functional
WIDTH = 8


def _class(**members: Any) -> type[Rewrite]:
    """A rewrite of sin(x), with other members."""

    def pattern(self: Any, x: Tensor, dim: int) -> Any:
        return aten.sum(x, [dim])

    def replacement(self: Any, x: Tensor, dim: int) -> Any:
        return aten.sum(x, [dim], True)

    given = {"stage": "joint", "pattern": pattern, "replacement": replacement, **members}
    return type("Given", (Rewrite,), given)


def test_a_misspelt_method() -> None:
    with pytest.raises(PatternError, match=r"no use for `were`.* Did you mean `where`\?"):

        class Typo(Rewrite):
            stage = "joint"

            def pattern(self, x: Tensor) -> Any:
                return aten.sin(x)

            def were(self, x: Tensor) -> Any:
                return x.ndim == 1

            def replacement(self, x: Tensor) -> Any:
                return aten.cos(x)


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("were", lambda self, x: True, "where"),
        ("wheres", lambda self: True, "where"),
        ("instance", lambda self, dim, x: [], "instances"),
        ("guard", lambda self, x, dim: True, None),
        ("nuumerics", "approximate", "numerics"),
        ("device", ("cuda",), "devices"),
        ("trough", (), "through"),
        ("befor", "pointless_view", "before"),
        ("onces", True, "once"),
        ("counters", "count", "counter"),
        ("zyx", object(), None),
    ],
)
def test_what_has_no_use(name: str, value: Any, meant: str | None) -> None:
    hint = f"Did you mean `{meant}`?" if meant else "method names it. A name"
    with pytest.raises(PatternError, match=f"no use for `{name}`") as raised:
        _class(**{name: value})
    assert hint in str(raised.value)


def test_an_annotation_that_is_of_the_class_makes_no_field() -> None:
    with pytest.raises(PatternError, match=r"`nuumerics`.*Did you mean `numerics`"):
        _class(nuumerics="exact", __annotations__={"nuumerics": ClassVar[str]})


@pytest.mark.parametrize(
    "members",
    [
        {"_helper": lambda self, x: x},
        {"_limit": 3},
        {"limit": 3, "where": lambda self, x: x.ndim < self.limit},
        {"wide": lambda self, x: x.ndim < 3, "where": lambda self, x: self.wide(x)},
        {"wide": lambda self, x: x, "where": lambda self, x: all(self.wide(y) for y in [x])},
        {"describe": lambda self, verbose: ""},
        {"describe": lambda self, *x: ""},
        {"describe": lambda self, *, x: ""},
        {"size": property(lambda self: 3)},
        {"size": staticmethod(lambda x: 3)},
        {"size": classmethod(lambda cls, x: 3)},
        {"Kind": int},
        {"limit": 3, "__annotations__": {"limit": int}},
        {"before": "pointless_view"},
        {"position": "first"},
        {"uuid": lambda self: "1"},
        {"instances": lambda self: []},
        {"devices": ("cpu",), "once": True, "counter": "count", "keeps": "x"},
    ],
)
def test_what_has_a_use_or_is_nobodys_misspelling(members: dict[str, Any]) -> None:
    assert issubclass(_class(**members), Rewrite)


def test_options_of_a_dataclass_and_of_a_base() -> None:
    @dataclass(frozen=True)
    class Limited(Rewrite, abstract=True):
        limit: int = 16

        def small(self, x: Tensor) -> Any:
            return x.ndim < self.limit

    class Small(Limited):
        stage = "joint"

        def pattern(self, x: Tensor) -> Any:
            return aten.sin(x)

        def where(self, x: Tensor) -> Any:
            return self.small(x)

        def replacement(self, x: Tensor) -> Any:
            return aten.cos(x)

    assert Small(3).limit == 3
    with pytest.raises(PatternError, match="`small`"):

        class Unused(Limited):
            stage = "joint"

            def pattern(self, x: Tensor) -> Any:
                return aten.sin(x)

            def replacement(self, x: Tensor) -> Any:
                return aten.cos(x)


def _captured(aten: Any) -> Any:
    return lambda self, x: aten.siin(x)


WRONG: list[tuple[Any, str]] = [
    (lambda self, x: aten.siin(x), "'aten' has no operator 'siin'. Did you mean 'sin'?"),
    (lambda self, x: aten.sum(aten.siin(x), [0]), "Did you mean 'sin'?"),
    (lambda self, x: aten.sum(x, aten.siin(x) if x.ndim else 1), "Did you mean 'sin'?"),
    (lambda self, x: aten.add.Tensr(x, x), "'aten.add' has no overload 'Tensr'. Did you mean 'Te"),
    (lambda self, x: ADD.Tensr(x, x), "'aten.add' has no overload 'Tensr'"),
    (lambda self, x: prims.convert_element_typ(x, torch.float32), "'convert_element_type'?"),
    (lambda self, x: OPS.aten.siin(x), "Did you mean 'sin'?"),
    (lambda self, x: ops.pyfn.torch.sinn(x), "torch has no 'sinn'. Did you mean 'sin'?"),
    (lambda self, x: FUNCTIONAL.sliu(x), "torch.nn.functional has no 'sliu'. Did you mean 'silu'?"),
    (lambda self, x: ops.method.veiw(x, [1]), "no value has a method 'veiw'. Did you mean 'view'?"),
    (lambda self, x: ops.higher_order.condd(x), "Did you mean 'cond'?"),
    (lambda self, x: aten.cat([aten.siin(y) for y in [x]]), "Did you mean 'sin'?"),
    (lambda self, x: (lambda y: aten.siin(y))(x), "Did you mean 'sin'?"),
    (lambda self, x: aten.cat(each([x], aten.siin)), "Did you mean 'sin'?"),
    (_captured(aten), "Did you mean 'sin'?"),
    (lambda self, x: aten.siin(*[x]), "Did you mean 'sin'?"),
    (lambda self, x: aten.siin(self=x), "Did you mean 'sin'?"),
]


@pytest.mark.parametrize(("replacement", "said"), WRONG)
def test_an_op_that_there_is_not(replacement: Any, said: str) -> None:
    replacement.__name__ = "replacement"
    with pytest.raises(PatternError) as raised:
        _class(replacement=replacement)
    assert str(raised.value).startswith("given.replacement: ")
    assert said in str(raised.value)


@pytest.mark.parametrize(
    "replacement",
    [
        lambda self, x: x,
        lambda self, x: aten.sum(x, [0]).siin,
        lambda self, x: aten.split(x, 2)[0],
        lambda self, x: ops.a_library_of_later.siin(x),
        lambda self, x: ops.a_library_of_later.siin.default(x),
        lambda self, x: x.aten.siin(x),
        lambda self, x: x.torch.siin(x),
        lambda self, x: aten.add.Tensor(x, WIDTH),
        lambda self, x: FUNCTIONAL.silu(x),
        lambda self, x: [ops.pyfn.torch.nn, x][1],
        lambda self, x: ops.method.view(x, x.shape),
        lambda self, x: ops.pyfn._operator.add(x, x),
        lambda self, x: aten.__name__,
    ],
)
def test_what_is_spelt_right_or_cannot_be_known(replacement: Any) -> None:
    assert issubclass(_class(replacement=replacement), Rewrite)


def test_a_misspelt_function_or_method_in_a_pattern() -> None:
    for wrong in (lambda self, x: ops.method.veiw(x, 1), lambda self, x: ops.pyfn.torch.sinn(x)):
        wrong.__annotations__ = {"x": Tensor}
        with pytest.raises(PatternError, match=r"given\.pattern \(.*\.py:\d+\): .*Did you mean"):
            _class(pattern=wrong, replacement=lambda self, x: x)


def _all_of(code: Any, roots: Any) -> list[tuple[list[str], bool]]:
    """What `misspellings` reads, by the instructions that Python itself lists."""
    found: list[tuple[list[str], bool]] = []
    inside = False
    for one in dis.get_instructions(code):
        if one.opname in ("LOAD_ATTR", "LOAD_METHOD") and inside:
            name = str(one.argval)
            method = one.opname == "LOAD_METHOD" or "NULL|self" in one.argrepr
            found[-1] = ([*found[-1][0], name], method)
        elif one.opname not in ("CACHE", "EXTENDED_ARG"):
            inside = one.opname in ("LOAD_GLOBAL", "LOAD_DEREF") and one.argval in roots
            if inside:
                found.append(([], False))
    return found


def test_code_is_read_as_python_reads_it() -> None:
    """With so many names in front that arguments of instructions take two bytes."""
    for (function, _), padded in ((one, padded) for one in WRONG for padded in (False, True)):
        code = function.__code__
        if padded:
            names = tuple([f"name_{number}" for number in range(300)])
            text = f"lambda self, x: ({', '.join(names)}, aten.siin(x), ADD.Tensr(x))"
            code = next(codes(compile(text, "text", "eval").co_consts[0]))
        for one in codes(code):
            roots = {
                "aten": aten,
                "ADD": ADD,
                "ops": ops,
                "OPS": OPS,
                "prims": prims,
                "FUNCTIONAL": FUNCTIONAL,
            }
            found = [(path.names, path.called) for path in misspellings._paths(one, roots)]
            assert found == _all_of(one, roots)


def test_no_op_class_is_made_for_the_answer() -> None:
    path = misspellings._Path(aten)
    path.names = ["special_bessel_j1", "default"]
    path.check()
    made = aten.special_bessel_j1
    assert isinstance(made, OpFunction)
    assert "default" not in vars(made)
    assert isinstance(FUNCTIONAL, RawFunction)
