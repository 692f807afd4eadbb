"""`xductor prove`: proves declared rewrites, and the rules of the no-op registry."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xductor.backend.cli.command import CommandError, Subparsers, add_import_option
from xductor.backend.cli.opt import pass_plugins

if TYPE_CHECKING:
    from xductor.transforms.proving.results import Proof
    from xductor.transforms.proving.subjects import Subject

_DESCRIPTION = """\
Decide whether what a rewrite matches and what it puts there agree, for all sizes and bits, and say
up to which bound. Without names: all declared rewrites of our passes, and each rule of the no-op
registry (remove_noop_ops, or remove_noop_ops:aten.slice.Tensor for one). A rewrite of yours is
named as path/to/file.py:Class. The status is 1 if one is refuted, vacuous or undecided. Needs z3
(pip install 'xductor[prove]').
"""


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "prove", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a rewrite, pass or rule by name")
    parser.add_argument(
        "--seconds", type=float, default=240.0, help="time for each (default: %(default)s)"
    )
    parser.add_argument(
        "--jobs", "-j", type=int, default=1, help="processes that prove (default: %(default)s)"
    )
    parser.add_argument(
        "--since",
        metavar="REVISION",
        help="only those whose certificate is not the one that this git revision has",
    )
    parser.add_argument("--fresh", action="store_true", help="prove anew what was proved before")
    parser.add_argument(
        "--write", action="store_true", help="keep the results as this project's certificates"
    )
    parser.add_argument("--verbose", "-v", action="store_true", help="all that is known of each")
    parser.add_argument(
        "--scripts", type=Path, metavar="DIR", help="write counter-examples there, as programs"
    )
    add_import_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print the result of each; returns 1 if one is refuted, vacuous or undecided."""
    from xductor.transforms.proving import certificates
    from xductor.transforms.proving.results import FAILED
    from xductor.transforms.proving.solving.solver import ProverUnavailable, z3_module

    try:
        z3_module()
    except ProverUnavailable as error:
        raise CommandError(str(error)) from error
    chosen = list(subjects(options.names))
    failed = 0
    entries = certificates.read(certificates.OURS)
    if options.since is not None:
        before = _entries_at(options.since)
        chosen = [one for one in chosen if _claim(entries, one) != _claim(before, one)]
    if options.write and not options.names:
        current = {one.identity for one in chosen}
        entries = {name: entry for name, entry in entries.items() if name in current}
    for subject, proof in zip(chosen, _proofs(chosen, options), strict=True):
        print(proof if options.verbose or not proof.ok else line(proof), flush=True)
        failed += proof.status in FAILED
        entries[subject.identity] = certificates.certificate_of(subject, proof)
        if options.write:
            certificates.write(certificates.OURS, entries)
        if options.scripts is not None and proof.counter_example is not None:
            _write_script(options.scripts, proof)
    return int(failed > 0)


def _entries_at(revision: str) -> dict[str, Any]:
    """The certificates at a git revision; empty if it had no such file."""
    from xductor.transforms.proving.certificates import OURS

    command = ["git", "-C", str(OURS.parent), "show", f"{revision}:./{OURS.name}"]
    shown = subprocess.run(command, capture_output=True, text=True)
    if shown.returncode and "does not exist" not in shown.stderr:
        raise CommandError(f"no certificates at {revision!r}: {shown.stderr.strip()}")
    return {} if shown.returncode else json.loads(shown.stdout)


def _claim(entries: Mapping[str, Any], subject: Subject) -> tuple[object, ...]:
    """What a certificate is about, and what it says."""
    entry = entries.get(subject.identity, {})
    return tuple([entry.get(name) for name in ("code", "meanings", "prover", "status")])


def _proofs(chosen: Sequence[Subject], options: argparse.Namespace) -> Iterator[Proof]:
    """The proofs of all subjects, in order; several processes work on them if asked to."""
    if options.jobs < 2 or len(chosen) < 2:
        for subject in chosen:
            yield _proof(subject, options.seconds, options.fresh)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        futures = [
            pool.submit(_known_as, tuple(options.names), key, options.seconds, options.fresh)
            for key in [one.identity for one in chosen]
        ]
        for future in futures:
            yield future.result()


def _known_as(names: tuple[str, ...], identity: str, seconds: float, fresh: bool) -> Proof:
    """The proof of one of the subjects, which another process finds by its identity."""
    one = next(subject for subject in subjects(names) if subject.identity == identity)
    return _proof(one, seconds, fresh)


def _proof(subject: Subject, seconds: float, fresh: bool) -> Proof:
    from xductor.transforms.proving.certificates import Cache
    from xductor.transforms.proving.prover import prove_subject
    from xductor.transforms.validation.given_instances import InvalidInstances

    cache = Cache()
    proof = None if fresh else cache.get(subject, seconds)
    if proof is None:
        try:
            proof = prove_subject(subject, seconds=seconds)
        except InvalidInstances as error:
            raise CommandError(str(error)) from error
        cache.put(subject, proof, seconds)
    return proof


def _write_script(folder: Path, proof: Proof) -> None:
    assert proof.counter_example is not None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{proof.rewrite.replace(':', '_')}.py"
    path.write_text(proof.counter_example.script)
    print(f"  written to {path}")


def line(proof: Proof) -> str:
    """A row of the table: rewrite, result, numerics, engines, ranks, dtypes, seconds."""
    ranks = f"ranks {proof.ranks[0]} to {proof.ranks[1]}"
    dtypes = "any dtype" if proof.dtypes == ("any",) else f"{len(proof.dtypes)} dtypes"
    engines = " + ".join(proof.engines) or "the same terms"
    return (
        f"{proof.rewrite:45} {proof.status:10} {proof.needed:8} {engines:24} {ranks:14} "
        f"{dtypes:10} {proof.seconds:6.1f} s{' (kept)' if proof.cached else ''}"
    )


def subjects(names: Sequence[str]) -> Iterator[Subject]:
    """The subjects with these names; without names, all declared rewrites and no-op rules."""
    from xductor.transforms.proving.noop_cases import PASS, NoopCase, noop_cases
    from xductor.transforms.proving.subjects import RewriteSubject
    from xductor.transforms.rows import registry

    ours = registry.declared_rewrites()
    if not names:
        yield from (RewriteSubject(one()) for one in ours)
        yield from noop_cases()
    for name in names:
        if name == PASS:
            yield from noop_cases()
        elif name.startswith(f"{PASS}:"):
            try:
                yield NoopCase(name.removeprefix(f"{PASS}:"))
            except KeyError as error:
                raise CommandError(f"the no-op registry has no rule for {error}") from error
        else:
            same = [one for one in ours if one.name == name]
            found = same or [pass_plugins.rewrite_named(name)]
            yield from (RewriteSubject(one()) for one in found)
