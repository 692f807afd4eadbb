"""Certificates: one of each rewrite and rule as it is now, and none of what has changed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import xductor
from tests.transforms.proving.examples import NoSuchMeaning, TimesOne
from xductor import Tensor
from xductor.backend.cli.commands.prove import subjects
from xductor.ir import aten
from xductor.transforms.joint_graph.pointless_permute_pair import PointlessPermutePair
from xductor.transforms.proving import certificates, code_hashes
from xductor.transforms.proving.certificates import Cache, certificate_of, is_current
from xductor.transforms.proving.code_hashes import hash_of, hash_of_meaning, hash_of_sources
from xductor.transforms.proving.prover import LEAST_DECIDED
from xductor.transforms.proving.subjects import RewriteSubject
from xductor.transforms.rows import registry
from xductor.transforms.rows.joint_graph import ALGEBRA_ROWS
from xductor.transforms.semantics import registry as registry_of_meanings

ENTRIES = certificates.read(certificates.OURS)


def test_every_rewrite_and_rule_has_a_certificate_of_its_code() -> None:
    missing = certificates.missing(subjects([]), ENTRIES)
    assert not missing, (
        f"run: xductor prove {' '.join(sorted({one.partition(':')[0] for one in missing}))} --write"
    )


def test_there_is_no_certificate_of_what_is_gone() -> None:
    assert set(ENTRIES) == {one.identity for one in subjects([])}


def test_none_is_refuted() -> None:
    counts = Counter(entry["status"] for entry in ENTRIES.values())
    assert set(counts) <= {"proved", "proved up to re-association", "bounded", "validated"}


#: About sums, products of matrices, maxima, oneDNN's calls, laws of algebra: neither data movement
#: nor single elements.
REDUCTIONS = (
    "BmmToMm", "PadMm", "PadBmm", "PadAddmm", "Softmax", "RandpermIndexAdd", "Addmm", "MmPlusMm",
    "UnfuseBiasAdd", "ReusePartial", "PointlessCumsum", "DecomposeMm", "DecomposeBmm",
    "DecomposeAddmm", "PartitionedScatter", "Efficient", "EinsumToPointwise", "ApplyGumbel",
    "PermuteFusion", "PermuteLinearFusion", "PermuteMatmulFusion", "Lce", "DotCompress",
    "Mkldnn", "OneDnn", "Woq", "Qmaxpool", "InFloat32", "AttnMask", "thin_products:",
    *[f"{row.name}:" for row in ALGEBRA_ROWS],
)  # fmt: skip


def test_nearly_all_that_move_data_or_compute_single_elements_are_proved() -> None:
    """Of those that take or give lists, for lists of a few lengths."""
    ours = {k: entry for k, entry in ENTRIES.items() if not any(one in k for one in REDUCTIONS)}
    decided = [name for name, entry in ours.items() if _is_proved_but_for_lists(entry)]
    assert len(decided) >= 0.85 * len(ours), set(ours) - set(decided)


def _is_proved_but_for_lists(entry: dict[str, Any]) -> bool:
    if entry["status"] == "bounded":
        lists = ("lists of", "dims of rank", "number of pieces of")
        return all(bound.startswith(lists) for bound in entry["bounds"])
    return entry["status"] == "proved"


def test_what_is_no_proof_says_why() -> None:
    for name, entry in ENTRIES.items():
        if entry["status"] == "bounded":
            assert entry["bounds"], name
        if entry["status"] in ("proved", "proved up to re-association", "bounded"):
            assert entry["instances"] >= LEAST_DECIDED, name
        if entry["status"] == "validated":
            assert entry["reason"], name
            assert entry["instances"] >= 20, name


def test_numerics_are_what_the_proof_needed() -> None:
    order = ("exact", "exact up to the sign of zero", "reassociates", "drops a rounding")
    for name, entry in ENTRIES.items():
        if entry["status"] == "proved" and entry["declared"] in order:
            assert order.index(entry["needed"]) <= order.index(entry["declared"]), name


def test_a_proof_is_not_of_a_changed_rewrite(tmp_path: Path) -> None:
    subject = RewriteSubject(TimesOne())
    entry = certificate_of(subject, xductor.prove(TimesOne))
    assert is_current(subject, entry)

    class Changed(TimesOne):
        def replacement(self, x: Tensor) -> Any:
            return aten.clone(x)

    assert not is_current(RewriteSubject(Changed()), entry)
    assert not is_current(subject, entry | {"meanings": {"aten.mul.Tensor": "another"}})


def test_what_came_of_less_time_is_not_taken_for_what_more_would_come_to(tmp_path: Path) -> None:
    cache, subject = Cache(tmp_path), RewriteSubject(TimesOne())
    proof = xductor.prove(TimesOne)
    cache.put(subject, proof, 10.0)
    kept = cache.get(subject, 120.0)
    assert kept is not None
    assert kept.cached
    assert (kept.status, kept.dtypes) == (proof.status, proof.dtypes)
    for status in ("validated", "bounded"):
        proof.status = status
        cache.put(subject, proof, 10.0)
        assert cache.get(subject, 120.0) is None
        cache.put(subject, proof, 120.0)
        again = cache.get(subject, 120.0)
        assert again is not None
        assert (again.status, again.instances) == (status, proof.instances)


def test_what_is_refuted_is_not_kept(tmp_path: Path) -> None:
    cache, subject = Cache(tmp_path), RewriteSubject(TimesOne())
    proof = xductor.prove(TimesOne)
    proof.status = "refuted"
    cache.put(subject, proof, 120.0)
    assert cache.get(subject, 120.0) is None


def test_what_was_run_for_want_of_a_meaning_is_not_kept_when_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, subject = Cache(tmp_path), RewriteSubject(NoSuchMeaning())
    cache.put(subject, xductor.prove(NoSuchMeaning), 120.0)
    kept = cache.get(subject, 120.0)
    assert kept is not None
    assert kept.status == "validated"
    assert "aten.special_i0.default" in kept.ops
    monkeypatch.setitem(registry_of_meanings._meanings, "aten.special_i0.default", _one)
    hash_of_meaning.cache_clear()
    assert cache.get(subject, 120.0) is None
    hash_of_meaning.cache_clear()


def _one(x: int) -> int:
    """A docstring."""
    return _two(x) + 1


def _two(x: int) -> int:
    return x * 2


def test_a_hash_knows_what_a_function_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    before = hash_of([_one])
    assert before == hash_of([_one])

    def _other(x: int) -> int:
        return x * 3

    monkeypatch.setitem(_one.__globals__, "_two", _other)
    assert hash_of([_one]) != before
    assert hash_of_meaning("aten.add.Tensor") != hash_of_meaning("aten.sub.Tensor")


def test_a_hash_is_of_what_a_pass_says_and_not_of_where_it_stands_or_what_runs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    subject = RewriteSubject(PointlessPermutePair())
    before = hash_of(subject.code())
    for method in ("pattern", "replacement"):
        monkeypatch.setattr(
            getattr(PointlessPermutePair, method),
            "__module__",
            "xductor.transforms.joint_graph.moved",
        )
    assert hash_of(subject.code()) == before
    assert subject.identity == "pointless_permute_pair:PointlessPermutePair"
    changed = PointlessPermutePair.replacement.__globals__
    monkeypatch.setitem(changed, "aten", "another engine")
    assert hash_of(subject.code()) == before


def test_a_kept_proof_is_of_all_sources_that_it_ran_through(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache, subject = Cache(tmp_path), RewriteSubject(TimesOne())
    cache.put(subject, xductor.prove(TimesOne), 120.0)
    assert cache.get(subject, 120.0) is not None
    known = code_hashes._source_of
    for module in ("proving.solving.solver", "matching.matcher"):
        name = f"xductor.transforms.{module}"
        changed = {name: "another = 1"}
        monkeypatch.setattr(
            code_hashes, "_source_of", lambda one, c=changed: c.get(one) or known(one)
        )
        hash_of_sources.cache_clear()
        assert cache.get(subject, 120.0) is None, module
    monkeypatch.undo()
    hash_of_sources.cache_clear()
    assert cache.get(subject, 120.0) is not None


def test_the_table_of_passes_shows_it() -> None:
    row = registry.row("pointless_view")
    assert registry.proof_of(row) == "proved"
    assert "proof" in registry.table().splitlines()[0]
