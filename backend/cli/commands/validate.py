"""`xductor validate`: runs rewrites, no-op rules and passes on generated graphs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from xductor.backend.cli.command import CommandError, Subparsers, add_import_option
from xductor.backend.cli.opt import pass_plugins
from xductor.transforms import Rewrite
from xductor.transforms.noops.noop_registry import NOOP_RULES
from xductor.transforms.rows import registry
from xductor.transforms.validation.call_validation import validate_calls
from xductor.transforms.validation.given_instances import InvalidInstances
from xductor.transforms.validation.validate import ValidationResult, validate

if TYPE_CHECKING:
    from xductor.backend.pass_validation.specimen import Specimens
    from xductor.backend.pass_validation.validation import PassValidation

_NOOPS = "remove_noop_ops"

_DESCRIPTION = f"""\
Generate graphs that a rewrite's pattern matches, apply the rewrite, and run both sides on inputs
with special values. Without names: all declared rewrites of our passes, and each rule of the
no-op registry ({_NOOPS}, or {_NOOPS}:aten.slice.Tensor for one). A rewrite of yours is
named as path/to/file.py:Class.
Procedural passes are run on graphs that were made for them: remove_no_ops or _sfdp_pattern_5 by
name, all of them with --all. Those of our passes are in the repository; --specimens names a module
with graphs for passes of yours.
The status is 1 if one is wrong, or if nothing could be validated of it or of a part of it:
an alternative of `one_of`, or what its `instances` yields.
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
    parser.add_argument("--all", action="store_true", help="procedural passes too")
    parser.add_argument(
        "--specimens",
        metavar="MODULE",
        help="validate procedural passes on the graphs in SPECIMENS of a module "
        "(a name, or a path ending in .py)",
    )
    parser.add_argument(
        "--prove", action="store_true", help="prove graphs of procedural passes; needs z3"
    )
    parser.add_argument(
        "--write", action="store_true", help="keep the results as this project's records"
    )
    add_import_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print the result of each; returns 1 if one is violated, vacuous or incomplete."""
    if options.write and options.specimens:
        raise CommandError("--write keeps records of our passes, and takes no --specimens")
    failed = 0
    for identity, result in _results(options):
        print(result, flush=True)
        failed += not result.ok
        if options.write:
            _write(identity, result)
    return int(failed > 0)


def _results(
    options: argparse.Namespace,
) -> Iterator[tuple[str, ValidationResult | PassValidation]]:
    names: list[str] = options.names
    passes = _passes(options)
    rewrites = [name for name in names if name not in passes]
    for one in _rewrites(rewrites) if rewrites or not (names or options.specimens) else []:
        try:
            found = validate(one, instances=options.instances, seed=options.seed)
        except InvalidInstances as error:
            raise CommandError(str(error)) from error
        yield one.record_key(), found
    for op in _rules(names) if names or not options.specimens else ():
        one = registry.typed_class(_NOOPS)()
        found = validate_calls(op, one, instances=options.instances, seed=options.seed)
        yield f"{_NOOPS}:{op}", found
    if passes:
        from xductor.backend.pass_validation.validation import validate_pass

        for name, specimens in passes.items():
            yield name, validate_pass(name, specimens, prove=options.prove)


def _passes(options: argparse.Namespace) -> Mapping[str, Specimens]:
    """The procedural passes that are asked for, with their specimens."""
    names: list[str] = options.names
    if options.specimens:
        known = _in_module(options.specimens)
        return {name: known[name] for name in names if name in known} if names else known
    declared = {one.name for one in registry.declared_rewrites()}
    others = [one for one in names if one not in declared and one.partition(":")[0] != _NOOPS]
    procedural = [one for one in others if ":" not in one]
    if not procedural and not (options.all and not names):
        return {}
    ours = _ours(
        needed=options.all or not {one.name for one in registry.rows()}.isdisjoint(procedural)
    )
    return {name: ours[name] for name in procedural if name in ours} if names else ours


def _in_module(name: str) -> Mapping[str, Specimens]:
    from xductor.backend.pass_validation.specimen_modules import NoSpecimens, specimens_of

    try:
        return specimens_of(pass_plugins.imported(name))
    except NoSpecimens as error:
        raise CommandError(str(error)) from error


def _ours(*, needed: bool) -> Mapping[str, Specimens]:
    """The specimens of our passes; where they are not installed, none, or an error if `needed`."""
    from xductor.backend.pass_validation.specimen_modules import NoSpecimens, ours

    try:
        return ours()
    except NoSpecimens as error:
        if needed:
            raise CommandError(str(error)) from error
        return {}


def _write(identity: str, result: ValidationResult | PassValidation) -> None:
    """Keep a record, and drop those of passes that no longer exist."""
    from xductor.backend.pass_validation import records

    specimens = _ours(needed=True)
    if isinstance(result, ValidationResult):
        record = records.record_of_rewrite(identity, result)
    else:
        record = records.record_of_pass(result, specimens)
    known = set(records.names(specimens))
    entries = {**records.read(), identity: record}
    records.write({name: one for name, one in entries.items() if name in known})


def _rules(names: list[str]) -> Iterator[str]:
    """The no-op rules that are named, by their operators; all if there are no names."""
    for op in NOOP_RULES:
        if not names or _NOOPS in names or f"{_NOOPS}:{op}" in names:
            yield op


def _rewrites(names: list[str]) -> list[type[Rewrite]]:
    ours = registry.declared_rewrites()
    if not names:
        return list(ours)
    found: list[type[Rewrite]] = []
    for name in names:
        if name == _NOOPS or name.removeprefix(f"{_NOOPS}:") in NOOP_RULES:
            continue
        same = [one for one in ours if one.name == name]
        found += same or [pass_plugins.rewrite_named(name)]
    return found
