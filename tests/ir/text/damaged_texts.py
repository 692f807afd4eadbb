# ruff: noqa: E501 - lines of IR text stay whole
"""Damages texts of all kinds and reads them: each must be accepted, or refused with its place.

    python -m tests.ir.text.damaged_texts --count 100000 --seed 1

prints how many were accepted and refused, the slowest, and every text that ended otherwise.
Exit status 1 if there is one.
"""

from __future__ import annotations

import argparse
import functools
import random
import re
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from io import BytesIO, StringIO
from pathlib import Path
from types import FrameType

from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from tests.thread_time import least_seconds
from xductor.backend.cli.opt.main import XductorOptMain
from xductor.ir import XductorContext, parse_ir

for _name in ("torch._higher_order_ops", "torch._inductor.inductor_prims"):
    import_module(_name)  # or the first text that names an op of theirs takes a second

#: Seconds of CPU time that a text may take. Those of the corpus take some milliseconds.
LIMIT = 1.0

_LINES = """
fx.graph @forward stage(pre_grad) symbols(s0 : int positive [2, int_oo] hint 4 source "L['x'].size()[0]", u0 : int unbacked size_like [0, 8], f0 : float [-oo, oo] hint 0.5, s1 = 2*s0 + 1) ambient(autocast cpu bf16, grad false, default_dtype f64) (%x : !fx.tensor<f32[s0, 4], cpu, requires_grad>, %n : !fx.symint<s0>, %i : !fx.tensor<i64[2], cpu>) {
  %add = aten.add.Tensor %x, 1.0, alpha = 2 : !fx.tensor<f32[s0, 4], cpu> {tag = "is_forward", recompute = "MUST_SAVE"} loc("a \\"b\\".py":3)
  %a, %split#1 = aten.split.Tensor %add, 2, 1 : !fx.tensor<f32[s0, 2][4, 1], cpu>, !fx.tensor<f32[s0, 2][4, 1], cpu, offset 2> {node = "split"}
  %t = method.t %a : !fx.tensor<f32[2, s0][1, 4], cpu> aliases(0)
  %cat = pyfn.torch.cat pack(%a, %split#1), dim = 1 : !fx.tensor<f32[s0, 4], cpu> loc("m.py":9)
  %"a b" = "module.a-b" %cat : !fx.tensor<f32[s0, 4], cpu>
  aten._assert_async.msg %cat, "no\\n\\u00e9" {node = "check"}
  fx.output (%cat, %t, [none, 3], %"a b")
}
---
fx.graph @f stage(joint) (%x : !fx.tensor<complex<f32>[4, 8], cuda:1, conj>, %g : !fx.object<"torch._C.Generator">) {
  %size = pyfn._operator.getitem %x, (slice(none, 2, none), none, ..., {"k": [1, 2.5, -inf, nan]}) : !fx.tensor<f32[2, 1, 4], cpu> as (*)
  %full = aten.full.default [2, 2], complex(0.0, 2.0), dtype = complex<f32>, layout = layout<strided>, device = device<cpu>, pin_memory = false : !fx.tensor<complex<f32>[2, 2], cpu>
  %r = aten.rand.generator [4], generator = opaque<torch._C.Generator, "0">, device = device<cpu> : !fx.tensor<f32[4], cpu>
  %c = method.clamp %full, float<0x7ff8000000000001>, size(2, 3), range(0, 4, 1) : !fx.tensor<f32[2, 2], cpu> aliases(may 0)
  %h = fx.opaque_call opaque<callable, "1">, %r, sym<s0 + floordiv(4, 2)>, fn<torch.ops.aten.sin.default> : !fx.tensor<f32[4], cpu>
  %z = aten.clone.default %c, memory_format = memory_format<contiguous_format> : !fx.tensor<f32[2, 2], cpu>
  %le = pyfn._operator.le 3, 8 : !fx.symbool<le(u0, 8)>
  %fl = pyfn.math.floor 2.5 : !fx.symfloat<to_float(s0)>
  fx.output (%size, (%z, none), %h, 3, -0.0)
}
---
fx.graph @forward stage(pre_grad) (%flag : !fx.tensor<i1[], cpu>, %x : !fx.tensor<f32[2, 4], cpu>) {
  %getitem, %other = higher_order.cond %flag, @cond_true, @"cond false", (%x,) : !fx.tensor<f32[2, 4], cpu>, !fx.none as (*, (*,)) {node = "cond"}
  fx.output (%getitem,)
}
fx.graph @cond_true stage(pre_grad) (%x : !fx.tensor<f32[2, 4], cpu>) {
  %sin = method.sin %x : !fx.tensor<f32[2, 4], cpu>
  fx.output (%sin,)
}
fx.graph @"cond false" stage(pre_grad) (%x : !fx.tensor<f32[2, 4], cpu>) declared
---
fx.graph @f stage(joint) (%x : !fx.tensor<f32[3], cpu>) {
  %sin = aten.sin.default %x : !fx.tensor<f32[3], cpu> loc(#loc1)
  %cos = aten.cos.default %sin : !fx.tensor<f32[3], cpu> {tag = "is_forward"} loc(#a.b$2)
  %two = "aten.neg.default"(%cos) <{args = #fx.args<%0>}> {node = #fx.node<"two" : "two" loc(#loc1)>} : (!fx.tensor<f32[3], cpu>) -> !fx.tensor<f32[3], cpu>
  fx.output (%two,) loc("m.py":4)
}
#loc1 = loc("a \\"b\\".py":3)
#a.b$2 = loc("m.py":12345)
#other = #fx.args<1>
---
// The constants stand behind the module.
fx.graph @forward stage(joint) (%x : !fx.tensor<f32[3], cpu>) {
  %table = fx.get_attr "table" : !fx.tensor<f32[3], cpu>
  %w = fx.get_attr "block.0.weight" : !fx.tensor<i64[2][2], cpu>
  %sum = aten.add.Tensor %x, %table : !fx.tensor<f32[3], cpu>
  fx.output (%sum, %w)
}
{-#
  dialect_resources: {
    fx: {
      forward.table: "0x040000000000803F0000004000004040",
      forward.block._0.weight: "0x0800000001000000000000000200000000000000"
    }
  }
#-}
---
builtin.module {
  fx.graph @forward stage(joint) symbols(s0 : int positive [2, int_oo] hint 16) (%x : !fx.tensor<f32[s0, 4], cpu>) {
    %add = "aten.add.Tensor"(%x) <{args = #fx.args<%0, 1.0, 2>}> {node = #fx.node<"add" : "add" {tag = "is_forward"} loc("model.py":7)>} : (!fx.tensor<f32[s0, 4], cpu>) -> !fx.tensor<f32[s0, 4], cpu>
    %a, %split#1 = "aten.split.Tensor"(%add) <{args = #fx.args<%0, 2, 1>}> {node = #fx.node<"a", "" : "split">} : (!fx.tensor<f32[s0, 4], cpu>) -> (!fx.tensor<f32[s0, 2][4, 1], cpu>, !fx.tensor<f32[s0, 2][4, 1], cpu, offset 2>)
    fx.output (%a, none)
  }
}
---
#alias = #fx.args<1, "two">
!ty = !fx.tensor<f32[2], cpu>
"builtin.module"() ({
^bb0:
  %0 = "builtin.unrealized_conversion_cast"() {a = #alias, b = 3 : i32, c = [1.5 : f32, "s\\00t"], d = dense<[1, 2]> : tensor<2xi64>, e = unit, f = @"a b"} : () -> !ty
  "aten.relu.default"(%0) <{args = #fx.args<%0>}> : (!ty) -> !ty
}) : () -> ()
"""

_REPOSITORY = Path(__file__).parents[3]


def corpus() -> list[str]:
    """Texts that parse: those above, the same in the generic format, those of the FileCheck tests."""
    texts = [text.strip() + "\n" for text in _LINES.split("---\n")]
    for text in texts[:4]:
        stream = StringIO()
        Printer(stream=stream, print_generic_format=True).print_op(parse_ir(text))
        texts.append(stream.getvalue())
    for folder in ("ir", "transforms"):
        for file in sorted((_REPOSITORY / "tests/filecheck" / folder).glob("*.mlir")):
            texts += [text for text in file.read_text().split("// -----") if _parses(text)]
    return texts


def _parses(text: str) -> bool:
    try:
        parse_ir(text)
    except ParseError:
        return False
    return True


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[%@!#^]?[A-Za-z_][\w.$]*|\d+(?:\.\d+)?|\s+|[^\s\w]')

_ODD = [
    *'"(){}[]<>%@!#^*:,=-+./\\|?', "<{", "}>", "->", "{-#", "#-}", "...", "//", "**", '"\\', '"\\x', "\\", '"a\nb"', '"\\ff"', '"\\u12"',
    "\0", "\ufeff", "\u2028", "\r", "\v", "\f", "\xa0", "\u00bd", "\u0663", "\u00e9", "\U0001f600", "\ud800", "\xb2",
    "0x", "0xZZ", "0x0", "1e999", "-1", "1e", "1.e5", "9" * 30, "9" * 5000, "-" + "9" * 5000, "1." + "0" * 5000, "1" * 400 + ".0", "0x" + "f" * 5000, "2 ** 99999", "9 ** 999 ** 999", "1/0",
    "loc", "loc(", "as", "as (", "aliases(", "aliases(9)", "aliases(may)", "none", "true", "inf", "-inf", "nan", "node", "declared", "source", "hint", "size_like", "unbacked", "positive", "even", "zoo", "int_oo", "oo",
    "fx.graph", "fx.output", "fx.get_attr", "fx.opaque_call", "builtin.module", "builtin.module {", "module {", "func.func", "aten.add.Tensor", "aten.nosuch.default", "nolib.op", "pyfn.torch.cat", "pyfn.os.system", "method.view", "module.x", "higher_order.cond", "stage(joint)", "symbols(", "ambient(", "dense<", "tensor<2xf32>",
    "opaque<", "opaque<a>", 'opaque<a, "b', "opaque<,>", "opaque<a, 1>", "device<", "device<nosuch>", "device<cpu:9999999999999999999>", "layout<float>", "memory_format<>", "sym<", "sym<1/0>", "fn<", "fn<x>", "float<", "float<zz>", "float<-1>", "float<0x1ffffffffffffffff>", "complex(", 'complex("a")', "complex(1, 2, 3)", "range()", "range(0, 1, 0)", 'range("a")', "slice()", "slice(1, 2, 3, 4)", "size(", "pack(", "pack(1)", "{1: 2}", "{[1]: 2}", "{%x: 1}",
    "!fx.tensor<", "!fx.tensor<>", "!fx.tensor<f32>", "!fx.tensor<f32[2]>", "!fx.tensor<f32[2], cpu, offset>", "!fx.tensor<f32[-2], cpu>", "!fx.tensor<f32[2][1, 1], cpu>", "!fx.tensor<f32[99999999999999999999], cpu>", "!fx.object<>", "!fx.object<1>", '!fx.object<"a>', "!fx.none<1>", "!fx.symint<", "!fx.symint<1.5>", "!fx.symbool<1>", "!fx.nosuch", "#fx.args<", "#fx.args<%9>", "#fx.args<%x>", "#fx.node<", "#fx.symbols<", "#fx.ambient<x>", "#fx.structure<", "#fx.aliases<",
    "dialect_resources", "external_resources", '"0x"', '"0x04"', '"0x0400000"', '"0x0400000000"', "i32", "i99999999999", "f32", "index", "vector<", "affine_map<", "unit", "[[", "]]", "(" * 50, "[" * 200, "{" * 30, "<" * 30,
]  # fmt: skip

Damage = Callable[[str, random.Random], str]


def _span(text: str, rng: random.Random, longest: int = 12) -> tuple[int, int]:
    start = rng.randrange(len(text) + 1)
    return start, min(len(text), start + rng.randint(1, longest))


def _token(text: str, rng: random.Random) -> tuple[int, int]:
    """Where a token stands, chosen by a position in the text."""
    if not text:
        return 0, 0
    at = rng.randrange(len(text))
    found = _TOKEN.search(text, max(text.rfind("\n", 0, at), text.rfind(" ", 0, at)) + 1)
    return found.span() if found is not None else (at, at + 1)


def delete(text: str, rng: random.Random) -> str:
    start, end = rng.choice((_span, _token))(text, rng)
    return text[:start] + text[end:]


def duplicate(text: str, rng: random.Random) -> str:
    start, end = rng.choice((_span, _token))(text, rng)
    return text[:end] + text[start:end] * rng.choice((1, 1, 1, 2, 40)) + text[end:]


def swap(text: str, rng: random.Random) -> str:
    (a, b), (c, d) = sorted((_token(text, rng), _token(text, rng)))
    return text if b > c else text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def truncate(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return rng.choice((text[:at], text[at:]))


def replace(text: str, rng: random.Random) -> str:
    start, end = _token(text, rng)
    return text[:start] + rng.choice(_ODD) + text[end:]


def insert(text: str, rng: random.Random) -> str:
    start = rng.choice((_span, _token))(text, rng)[0]
    return text[:start] + rng.choice(_ODD) + text[start:]


def flip(text: str, rng: random.Random) -> str:
    if not text:
        return text
    at = rng.randrange(len(text))
    flipped = ord(text[at]) ^ (1 << rng.randrange(8))
    return text[:at] + chr(flipped) + text[at + 1 :]


def nest(text: str, rng: random.Random) -> str:
    start, end = _token(text, rng)
    opening, closing = rng.choice(
        ("()", "[]", "{}", "<>", ("(-", ")"), ("max(", ", 1)"), ("{1: ", "}"))
    )
    depth = rng.choice((1, 2, 50, 3000))
    return text[:start] + opening * depth + text[start:end] + closing * depth + text[end:]


def enlarge(text: str, rng: random.Random) -> str:
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return text
    found = rng.choice(numbers)
    digits = rng.choice(
        ("9" * 19, "9" * 40, "9" * 5000, "-1", f"-{'9' * 40}", "1e400", "0", "18446744073709551616")
    )
    return text[: found.start()] + digits + text[found.end() :]


def unquote(text: str, rng: random.Random) -> str:
    quotes = [at for at, char in enumerate(text) if char == '"']
    if not quotes:
        return text
    at = rng.choice(quotes)
    return text[:at] + rng.choice(("", "", "'", '""', '\\"')) + text[at + 1 :]


def splice(text: str, rng: random.Random) -> str:
    """Another part of the text over a part of it."""
    start, end = _span(text, rng, 60)
    other, upto = _span(text, rng, 60)
    return text[:start] + text[other:upto] + text[end:]


DAMAGES: tuple[Damage, ...] = (
    delete, duplicate, swap, truncate, replace, replace, insert, flip, nest, enlarge, unquote, splice,
)  # fmt: skip


def damaged(count: int, seed: int) -> Iterator[str]:
    """Texts with one to four damages each; the same for the same seed."""
    rng = random.Random(seed)
    texts = corpus()
    for _ in range(count):
        text = rng.choice(texts)
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            text = rng.choice(DAMAGES)(text, rng)
        yield text


@dataclass
class Outcome:
    """What became of a number of texts."""

    accepted: int = 0
    refused: int = 0
    slowest: float = 0.0
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    """(way in, what happened, text)"""

    def table(self) -> str:
        kinds = Counter(f"{way}: {what.splitlines()[0][:100]}" for way, what, _ in self.failures)
        lines = [
            f"accepted {self.accepted}, refused with a place {self.refused}, "
            f"otherwise {len(self.failures)}; slowest {self.slowest:.2f} s"
        ]
        return "\n".join([*lines, *(f"{number:6} {kind}" for kind, number in kinds.most_common())])


class TooLong(BaseException):
    """The time is over; no handler of errors takes it for one."""


@contextmanager
def _limited(limit: float) -> Iterator[None]:
    """Raises TooLong in what takes more than the limit; regular expressions are interrupted too."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


_DRIVER = XductorOptMain([])


def read_by_driver(text: str) -> None:
    """As `xductor-opt` reads a file."""
    _DRIVER.ctx = XductorContext()
    _DRIVER.parse_chunk(BytesIO(text.encode()), "mlir")


def read_by_library(text: str) -> None:
    parse_ir(text, "stdin")


WAYS: dict[str, Callable[[str], None]] = {
    "parse_ir": read_by_library,
    "xductor-opt": read_by_driver,
}

_PLACE = re.compile(r"stdin:\d+:\d+\n")


def problem(read: Callable[[str], None], text: str, limit: float = LIMIT) -> str | None:
    """None for a text that is accepted, "" for one refused as it must be; else what happened."""
    try:
        with _limited(limit):
            read(text)
    except ParseError as error:
        if _PLACE.match(str(error)) is None:
            return f"refused without a place: {error}"
        cause = error.__cause__
        return "" if cause is None or _is_xdsls(cause) else f"not foreseen: {cause!r}"
    except TooLong:
        return f"over {limit} s"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _is_xdsls(error: BaseException) -> bool:
    """Whether xDSL's code raised an error, or called what raised it: it has no other way to refuse."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    ours_or_xdsls = [
        file for file in files if "/xdsl/" in file or file.startswith(str(_REPOSITORY))
    ]
    return "/xdsl/" in ours_or_xdsls[-1]


def _append_problem(answers: list[str | None], read: Callable[[str], None], text: str) -> None:
    answers.append(problem(read, text))


def read_all(texts: Iterator[str]) -> Outcome:
    """Every text by one of the ways in, by turns."""
    outcome = Outcome()
    ways = list(WAYS.items())
    for index, text in enumerate(texts):
        way, read = ways[index % 8 == 0]
        if any("\ud800" <= char <= "\udfff" for char in text):  # no file holds it
            way, read = ways[0]
        answers: list[str | None] = []
        taken = least_seconds(functools.partial(_append_problem, answers, read, text), LIMIT)
        outcome.slowest = max(outcome.slowest, taken)
        what = answers[-1] if taken <= LIMIT else f"over {LIMIT} s"
        if what is None:
            outcome.accepted += 1
        elif not what:
            outcome.refused += 1
        else:
            outcome.failures.append((way, what, text))
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--show", type=int, default=3, help="how many of the failing texts are printed"
    )
    options = parser.parse_args()
    outcome = read_all(damaged(options.count, options.seed))
    print(outcome.table())
    for way, what, text in outcome.failures[: options.show]:
        print(f"--- {way}: {what}\n{text[:4000]!r}")
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
