"""`xductor rewrite new`: writes a rewrite, its test and its FileCheck file."""

from __future__ import annotations

import argparse
import importlib
import keyword
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import torch
from xdsl.dialects.builtin import ModuleOp

from xductor.backend.cli.command import CommandError, Subparsers
from xductor.backend.cli.new_files import FileCheckText, check_text, policy_for, test_text
from xductor.backend.cli.opt import pass_plugins
from xductor.backend.traced_patterns.pattern_from import class_name, pattern_from
from xductor.ir import parse_ir
from xductor.ir.dialect.dtypes import DTYPE_OF_TEXT
from xductor.transforms import Numerics, Rewrite, Stage
from xductor.transforms.matching.patterns import PatternError
from xductor.transforms.passes.numerics import Policy
from xductor.transforms.rewriting.rewrite import snake_case

_DESCRIPTION = """\
Write three files: NAME.py with a rewrite, test_NAME.py, which validates it, compiles with it and
runs FileCheck, and NAME.mlir with a graph and the checks. Without --from it is a small rewrite to
start from. With --from and --to, functions of the same inputs, pattern and replacement are traced:

  xductor rewrite new silu_mul --from ops.py:silu_mul --to ops.py:fused --input f32[4,8] f32[4,8]
"""


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "rewrite",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", choices=("new",))
    parser.add_argument("name", metavar="NAME", help="in snake_case, such as silu_mul")
    parser.add_argument("--stage", choices=get_args(Stage), default="post_grad")
    parser.add_argument("--folder", default=".", help="where to write (default: here)")
    parser.add_argument("--from", dest="function", metavar="FILE.py:FUNCTION")
    parser.add_argument("--to", dest="replacement", metavar="FILE.py:FUNCTION")
    parser.add_argument(
        "--input",
        nargs="+",
        default=[],
        metavar="TYPE",
        help="what the functions are traced with: bf16[4,8], or a number",
    )
    parser.add_argument(
        "--numerics",
        choices=get_args(Numerics),
        default="exact",
        help="how the replacement may change values (default: not at all)",
    )


def run(options: argparse.Namespace) -> int:
    """Write the files. Raises CommandError if one exists, or if nothing can be traced."""
    name: str = snake_case(options.name)
    _check_name(name)
    folder = Path(options.folder)
    paths = [folder / f"{name}.py", folder / f"test_{name}.py", folder / f"{name}.mlir"]
    for path in paths:
        if path.exists():
            raise CommandError(f"{path} exists already")
    if not folder.is_dir():
        raise CommandError(f"{folder} is no folder")
    texts = _traced(options, name) if options.function else _plain(options.stage, name)
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    print(*(f"wrote {path}" for path in paths), sep="\n")
    print(f"next: pytest {paths[1]} {paths[2]}; xductor prove {paths[0]}:{class_name(name)}")
    return 0


def _check_name(name: str) -> None:
    """Raises CommandError for a name under which no file, or no class, could be imported."""
    if not name.isidentifier() or keyword.iskeyword(name) or keyword.iskeyword(class_name(name)):
        raise CommandError(f"'{name}' is no name of a Python module and of a class in it")
    if name in sys.stdlib_module_names or name in ("torch", "xductor"):
        raise CommandError(f"`import {name}` means another module; give another name")


def _plain(stage: Stage, name: str) -> tuple[str, str, str]:
    made = class_name(name)
    source = f'''"""{made}: say what it does."""

from xductor import Rewrite, Tensor
from xductor.ir import aten


class {made}(Rewrite):
    """A double negation is what was negated first."""

    stage = "{stage}"

    def pattern(self, x: Tensor):
        return aten.neg(aten.neg(x))

    def replacement(self, x: Tensor):
        return x
'''
    call = "method.neg" if stage == "pre_grad" else "aten.neg.default"
    graph = parse_ir(
        f"""fx.graph @forward stage({stage}) symbols() (%x : !fx.tensor<f32[4, 8], cpu>) {{
  %neg = {call} %x : !fx.tensor<f32[4, 8], cpu>
  %neg_1 = {call} %neg : !fx.tensor<f32[4, 8], cpu>
  %sin = {call.replace("neg", "sin")} %neg_1 : !fx.tensor<f32[4, 8], cpu>
  fx.output (%sin,)
}}
"""
    )
    compiled = "def program(x):\n    return torch.sin(torch.neg(torch.neg(x)))\n"
    test = test_text(name, made, compiled, "program", "(torch.randn(4, 8),)", "default")
    return source, test, _checks(source, name, made, graph, "default")


def _traced(options: argparse.Namespace, name: str) -> tuple[str, str, str]:
    if not options.replacement or not options.input:
        raise CommandError("--from needs --to, a function of what takes its place, and --input")
    home, function = _function(options.function, options.folder)
    other, replacement = _function(options.replacement, options.folder)
    inputs = [_input(text) for text in options.input]
    made = class_name(name)
    try:
        traced = pattern_from(
            function,
            *inputs,
            stage=options.stage,
            replacement=replacement,
            numerics=options.numerics,
            name=made,
        )
    except PatternError as error:
        raise CommandError(str(error)) from error
    imports = "".join(f"import {one}  # noqa: F401\n" for one in dict.fromkeys((home, other)))
    head, separator, rest = traced.source.partition("from xductor import")
    source = f"{head}{imports}{separator}{rest}"
    values = [_input_text(text) for text in options.input]
    given = f"({', '.join(values)}{',' * (len(values) == 1)})"
    called = options.function.rpartition(":")[2]
    policy = policy_for(options.numerics)
    test = test_text(name, made, f"from {home} import {called}\n", called, given, policy)
    return source, test, _checks(source, name, made, traced.graph, policy)


def _function(text: str, folder: str) -> tuple[str, Callable[..., Any]]:
    """The module and the function of `ops.py:silu_mul`."""
    home, colon, name = text.rpartition(":")
    if not colon:
        raise CommandError(f"'{text}' is no function; expected FILE.py:FUNCTION")
    path = Path(home)
    if path.suffix == ".py":
        if path.parent.resolve() != Path(folder).resolve():
            raise CommandError(
                f"{home} is not in the folder {folder}, where the files are written, so that they "
                f"could not import it; give --folder {path.parent}, or name an installed module "
                f"instead, as package.module:{name}"
            )
        sys.path.insert(0, str(path.parent.resolve()))
        home = path.stem
    try:
        module = importlib.import_module(home)
    except Exception as error:  # whatever the module's code raises
        raise CommandError(f"cannot import {home}: {type(error).__name__}: {error}") from error
    found = getattr(module, name, None)
    if not callable(found):
        raise CommandError(f"{home} has no function '{name}'")
    return home, found


_TENSOR = re.compile(r"(\w+)\[([\d, ]*)\]")


def _input(text: str) -> Any:
    """What a function is traced with: a tensor for `f32[4, 8]`, else a number."""
    match = _TENSOR.fullmatch(text)
    if match:
        if match[1] not in DTYPE_OF_TEXT:
            raise CommandError(f"'{text}': '{match[1]}' is none of {', '.join(DTYPE_OF_TEXT)}")
        shape = [int(size) for size in match[2].split(",") if size.strip()]
        dtype = DTYPE_OF_TEXT[match[1]]
        made = torch.randn(shape) if dtype.is_floating_point else torch.ones(shape)
        return made.to(dtype)
    try:
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except ValueError:
        raise CommandError(f"'{text}' is neither a type, such as f32[4,8], nor a number") from None


def _input_text(text: str) -> str:
    value = _input(text)
    if not isinstance(value, torch.Tensor):
        return repr(value)
    made = "torch.randn" if value.dtype.is_floating_point else "torch.ones"
    call = f"{made}({', '.join(map(str, value.shape)) or '()'})"
    return call if value.dtype is torch.float32 else f"{call}.to({value.dtype})"


def _checks(source: str, name: str, made: str, graph: ModuleOp, policy: Policy) -> str:
    from xductor.backend.traced_patterns.source_module import module_of

    rewrite: type[Rewrite] = getattr(module_of(source), made)
    return check_text(FileCheckText(name, pass_plugins.pass_of_rewrite(rewrite), graph, policy))


__all__: Sequence[str] = ("add_parser", "run")
