"""Names for lines of the user's code, `loc(#loc1)`: each line stands once, behind the module."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

import xductor
from xductor.backend.testing.captured_stages import capture
from xductor.ir import XductorContext, parse_ir, print_ir, same

TENSOR = "!fx.tensor<f32[3], cpu>"
TEXT = f"""builtin.module {{
  fx.graph @f stage(joint) (%x : {TENSOR}) {{
    %a = aten.sin.default %x : {TENSOR} loc("a/model.py":3)
    %b = aten.cos.default %a : {TENSOR} loc("a/model.py":30)
    %c = aten.neg.default %b : {TENSOR}
    %d = aten.exp.default %c : {TENSOR} loc("a/model.py":3)
    fx.output (%d,) loc("b \\"c\\".py":3)
  }}
}}
"""
NAMED = f"""builtin.module {{
  fx.graph @f stage(joint) (%x : {TENSOR}) {{
    %a = aten.sin.default %x : {TENSOR} loc(#loc1)
    %b = aten.cos.default %a : {TENSOR} loc(#loc2)
    %c = aten.neg.default %b : {TENSOR}
    %d = aten.exp.default %c : {TENSOR} loc(#loc1)
    fx.output (%d,) loc(#loc3)
  }}
}}
#loc1 = loc("a/model.py":3)
#loc2 = loc("a/model.py":30)
#loc3 = loc("b \\"c\\".py":3)
"""


def test_each_line_stands_once() -> None:
    module = parse_ir(TEXT)
    assert print_ir(module, locations="aliases") == NAMED
    assert print_ir(module) == TEXT
    assert "loc" not in print_ir(module, locations=False)


def test_names_are_read_back() -> None:
    module = parse_ir(NAMED)
    assert same(module, parse_ir(TEXT))
    assert print_ir(module) == TEXT
    assert print_ir(module.clone(), locations="aliases") == NAMED


def test_without_locations_nothing_is_named() -> None:
    module = parse_ir(print_ir(parse_ir(TEXT), locations=False))
    assert print_ir(module, locations="aliases") == print_ir(module)


def test_names_are_free_and_definitions_may_come_first() -> None:
    body, lines = NAMED[: NAMED.index("#loc1 =")], NAMED[NAMED.index("#loc1 =") :]
    for name in ("#loc", "#model.line$3", "#_1"):
        text = f"// the lines\n{lines}{body}".replace("#loc1", name)
        assert same(parse_ir(text), parse_ir(TEXT))
    spaced = NAMED.replace("loc(#loc1)", "loc( #loc1 )").replace("#loc1 = loc(", "#loc1 = loc ( ")
    assert same(parse_ir(spaced), parse_ir(TEXT))
    unused = NAMED + '#loc9 = loc("nobody.py":1)\n'
    assert same(parse_ir(unused), parse_ir(TEXT))


def test_graphs_share_names() -> None:
    second = TEXT.splitlines()[1].replace("@f", "@g")
    body = f'{second}\n fx.output (%x,) loc("b.py":1) }}\n}}\n'
    both = TEXT.removesuffix("}\n") + body
    named = print_ir(parse_ir(both), locations="aliases")
    assert named.count(" = loc(") == 4
    assert same(parse_ir(named), parse_ir(both))


def test_constants_stand_behind_the_definitions() -> None:
    gm = make_fx(lambda x: x + torch.tensor([1.0, 2.0, 3.0]))(torch.randn(3))
    for node in gm.graph.nodes:
        node.meta["stack_trace"] = '  File "model.py", line 7, in f\n    return x'
    module = xductor.from_fx(gm, stage="joint")
    text = print_ir(module, locations="aliases", with_constants=True)
    assert '#loc1 = loc("model.py":7)\n\n{-#' in text or '#loc1 = loc("model.py":7)\n{-#' in text
    parsed = parse_ir(text)
    assert same(parsed, module)
    torch.testing.assert_close(xductor.to_fx(parsed)(torch.ones(3)), gm(torch.ones(3)))


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (NAMED.replace("#loc2 =", "#loc7 ="), "<text>:4:", "#loc2 is not defined"),
        (NAMED.replace("#loc2 =", "#loc1 ="), "<text>:11:", "#loc1 is defined twice"),
        (NAMED.replace(":30)", ")"), "<text>:11:", "expected ':'"),
        (NAMED.replace("loc(#loc2)", "loc(#loc2"), "<text>:5:", "expected ')'"),
        (NAMED.replace("loc(#loc2)", "loc(#2)"), "<text>:4:", "expected a file name, found '#2)'"),
    ],
)
def test_errors_say_where_and_what(text: str, place: str, message: str) -> None:
    with pytest.raises(ParseError) as raised:
        parse_ir(text)
    assert place in str(raised.value)
    assert message in str(raised.value)


def test_xdsls_own_parser_says_who_reads_names() -> None:
    """It knows locations with a column only, so it cannot read the definitions."""
    with pytest.raises(ParseError, match="are read by parse_ir and xductor-opt"):
        Parser(XductorContext(), NAMED).parse_module()


def test_the_graphs_of_a_compile() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.layer_norm(torch.sin(x) * 2 + 1, [4])

    stages = capture(f, torch.randn(2, 4))
    assert len(stages) == 3
    for module in [stage.before for stage in stages]:
        plain, named = print_ir(module), print_ir(module, locations="aliases")
        assert f'loc("{__file__}":' in plain
        assert named.count(__file__) == 1
        assert same(parse_ir(named), parse_ir(plain))
        assert len(named) < len(plain)


@pytest.mark.parametrize("unknown", ["alias", "", None, 3, 1, 0])
def test_other_words_for_locations_are_refused(unknown: Any) -> None:
    with pytest.raises(ValueError, match="expected True, False or 'aliases'"):
        print_ir(parse_ir(TEXT), locations=unknown)
