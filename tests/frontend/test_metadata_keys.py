"""Every key that the installed torch puts into `meta` has its class in our table."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import torch

from xductor.ir.dialect.metadata import MetadataClass, keys_of, metadata_class

_FOLDERS = ("_dynamo", "_functorch", "_higher_order_ops", "_inductor", "fx")

#: Where a key is no text in the source: copies of what is there already under any key, and loops
#: over keys that stand in the table.
_COMPUTED = {
    "_dynamo/functional_export.py": {"key"},
    "_dynamo/output_graph.py": {"field"},
    "_dynamo/variables/higher_order_ops.py": {"gmod_meta_key"},
    "_inductor/codegen/common.py": {"OptimizationContext.key"},
    "_inductor/codegen/cpp.py": {"OptimizationContext.key"},
    "_inductor/compile_fx.py": {"get_cloned_parameter_buffer_name(buffer_name)"},
    "_inductor/fx_passes/bucketing.py": {"bucketing_sources_key", "key"},
    "_inductor/pattern_matcher.py": {"tag_name"},
    "fx/experimental/graph_gradual_typechecker.py": {"str(n.args[0])", "str(n.args[1])"},
    "fx/graph.py": {"key"},
    "fx/interpreter.py": {"k"},
    "fx/node.py": {"k"},
    "fx/passes/runtime_assert.py": {"val_key"},
    "fx/proxy.py": {"field"},
}

_SETS = re.compile(r"\.meta(\[[^\n]*\]|\[$|\.setdefault|\.update)", re.MULTILINE)


def _set(tree: ast.Module) -> Iterator[ast.expr]:
    """The keys that a file sets: `x.meta[key] = ...`, `x.meta.setdefault(key)`, `.update(...)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for one in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                    if isinstance(one, ast.Subscript) and _is_meta(one.value):
                        yield one.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if not _is_meta(node.func.value):
                continue
            if node.func.attr == "setdefault":
                yield node.args[0]
            elif node.func.attr == "update":
                yield from (ast.Constant(word.arg) for word in node.keywords if word.arg)
                for argument in node.args:
                    if isinstance(argument, ast.Dict):
                        yield from (key for key in argument.keys if key is not None)


def _is_meta(value: ast.expr) -> bool:
    return isinstance(value, ast.Attribute) and value.attr == "meta"


def _constant(text: str, name: str) -> str | None:
    """The text that a file gives to a name, if that is the only thing it gives to it."""
    given = re.findall(rf"^\s*{name}\s*(?::[^=\n]*)?=\s*(.+)$", text, re.MULTILINE)
    found = re.fullmatch(r"""["'](\w+)["']""", given[0].strip()) if len(given) == 1 else None
    return found[1] if found else None


@cache
def _keys() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Files by key, and by file the expressions that are no key by themselves."""
    root = Path(torch.__file__).parent
    keys: dict[str, set[str]] = defaultdict(set)
    computed: dict[str, set[str]] = defaultdict(set)
    for path in (one for folder in _FOLDERS for one in sorted((root / folder).rglob("*.py"))):
        text = path.read_text(encoding="utf-8")
        if _SETS.search(text) is None:
            continue
        tree = ast.parse(text)
        name = path.relative_to(root).as_posix()
        for key in _set(tree):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                keys[key.value].add(name)
            elif isinstance(key, ast.Name) and (constant := _constant(text, key.id)):
                keys[constant].add(name)
            else:
                computed[name].add(ast.unparse(key))
    return dict(keys), dict(computed)


def test_every_key_that_torch_sets_is_classified() -> None:
    keys, _ = _keys()
    assert len(keys) > 60
    assert {"val", "eager_input_vals", "stack_trace", "recompute"} <= set(keys)
    unknown = {key: sorted(files) for key, files in keys.items() if metadata_class(key) is None}
    assert not unknown, f"add these keys to the table in ir/dialect/metadata.py: {unknown}"


def test_where_keys_are_computed_is_known() -> None:
    _, computed = _keys()
    new = {
        name: sorted(expressions - _COMPUTED.get(name, set()))
        for name, expressions in computed.items()
        if expressions - _COMPUTED.get(name, set())
    }
    assert not new, f"see which keys these are, and add them to the table: {new}"


def test_a_key_has_one_class() -> None:
    everything = [key for kind in MetadataClass for key in keys_of(kind)]
    assert len(everything) == len(set(everything))
    assert all(metadata_class(key) is kind for kind in MetadataClass for key in keys_of(kind))
