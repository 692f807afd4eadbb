"""``xductor validate``: run declared rewrites, and the no-op rules, on generated instances."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from xductor.backend.cli import pass_plugins
from xductor.backend.cli.command import CommandError, Subparsers
from xductor.transforms import registry
from xductor.transforms.noop_registry import NOOP_RULES
from xductor.transforms.rewriting.call_validation import validate_calls
from xductor.transforms.rewriting.rewrite import Rewrite
from xductor.transforms.rewriting.validation import ValidationResult, validate

_NOOPS = "remove_noop_ops"

_DESCRIPTION = f"""\
Generate graphs that a rewrite's pattern matches, apply the rewrite, and run both sides on inputs
with special values. Without names: all declared rewrites of our passes, and each case of the
no-op registry ({_NOOPS}). A rewrite of yours is named as path/to/file.py:Class.
The status is 1 if one is wrong, or if nothing could be validated of it.
"""


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "validate",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a rewrite or pass by name")
    parser.add_argument(
        "--instances", type=int, default=40, help="graphs for each (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="which graphs (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    """Print what each came to; 1 if one is violated or vacuous."""
    failed = 0
    for result in _results(options.names, options.instances, options.seed):
        print(result, flush=True)
        failed += not result.ok
    return int(failed > 0)


def _results(names: list[str], instances: int, seed: int) -> Iterator[ValidationResult]:
    for one in _rewrites(names):
        yield validate(one, instances=instances, seed=seed)
    if not names or _NOOPS in names:
        yield from noop_results(instances, seed)


def noop_results(instances: int, seed: int = 0) -> Iterator[ValidationResult]:
    """Each case of the no-op registry, through the pass that has it."""
    one = registry.typed_class(_NOOPS)()
    for name in NOOP_RULES:
        yield validate_calls(name, one, instances=instances, seed=seed)


def _rewrites(names: list[str]) -> list[type[Rewrite]]:
    ours = registry.declared_rewrites()
    if not names:
        return list(ours)
    found: list[type[Rewrite]] = []
    for name in names:
        if name == _NOOPS:
            continue
        same = [one for one in ours if one.name == name]
        try:
            found += same or [pass_plugins.rewrite_named(name)]
        except pass_plugins.PluginError as error:
            raise CommandError(str(error)) from error
    return found
