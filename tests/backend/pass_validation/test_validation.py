"""Validation of procedural passes: records are of the code as it is, and wrong passes are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from tests.specimens.passes import SPECIMENS
from xductor.backend.cli import main as command
from xductor.backend.pass_validation import records, specimen_modules
from xductor.backend.pass_validation.comparison import same_results
from xductor.backend.pass_validation.specimen import Specimen, Specimens, traced
from xductor.backend.pass_validation.validation import validate_pass
from xductor.ir import ArgsAttr, entry_graph
from xductor.transforms import EXACT, TypedPass
from xductor.transforms.noops.remove_no_ops import RemoveNoOps
from xductor.transforms.rows import registry

ENTRIES = records.read()
_SAMPLE = 8
_ATTENTION = [name for name in SPECIMENS if name.startswith("_sfdp")]
_OTHERS = [name for name in SPECIMENS if name not in _ATTENTION]


def test_records_are_of_the_code_as_it_is() -> None:
    missing = records.missing(ENTRIES, records.names(SPECIMENS), SPECIMENS)
    names = sorted({one.partition(":")[0] for one in missing})
    assert not missing, f"run: xductor validate {' '.join(names)} --prove --write"


def test_there_is_no_record_of_what_is_gone() -> None:
    assert set(ENTRIES) == set(records.names(SPECIMENS))


def test_every_record_tells_something() -> None:
    for name, entry in ENTRIES.items():
        assert entry["graphs"] > 0, name
        assert entry["runs"] >= entry["graphs"], name
        if name in SPECIMENS:
            assert bool(entry["proofs"]) != bool(entry["unproved"]), name
            assert entry["unproved"] == SPECIMENS[name].unproved, name


@pytest.mark.parametrize("name", [*_OTHERS, "_sfdp_pattern_1", "_sfdp_pattern_18"])
def test_a_sample_agrees_again(name: str) -> None:
    # Graphs of one form follow each other: a prime does not keep to one dtype or size.
    every = next(p for p in (83, 61, 43, 31, 19, 11, 7, 5, 3, 2, 1) if p * _SAMPLE <= _graphs(name))
    result = validate_pass(name, SPECIMENS[name], every=every)
    assert result.ok, result


def _graphs(name: str) -> int:
    entry = ENTRIES[name]
    return max(entry["graphs"] + entry["idle"], _SAMPLE)


def test_every_row_of_the_joint_stage_shows_what_is_known() -> None:
    for row in registry.rows("joint"):
        if row.ours:
            assert " runs of " in registry.validation_of(row), row.name
            assert registry.proof_of(row), row.name


# Passes that are wrong.


def _of(name: str, change: Callable[[Specimen], Specimen], most: int = 6) -> Any:
    """The validation of the first graphs of a pass, each changed somehow."""

    def make() -> Any:
        yield from map(change, islice(SPECIMENS[name].make(), most))

    return validate_pass(name, replace(SPECIMENS[name], make=make), every=5)


def test_a_sign_of_zero_that_is_lost_is_found() -> None:
    module = traced(lambda x: (x.neg() + torch.zeros_like(x)) * 2, torch.ones(3, 4))
    assert module is not None
    one = Specimen("x + 0", module, RemoveNoOps("fast"))
    assert one.numerics == EXACT
    result = validate_pass("wrong", Specimens(lambda: iter([one]), same_results))
    assert result.status == "violated"
    assert "-0.0" in result.violations[0]


@dataclass(frozen=True)
class _Wrong(TypedPass):
    """A pass of ours, and a change of one argument of the last call that has it."""

    name = "wrong"
    stage = "joint"
    inductor = ""

    right: TypedPass | None = None
    op: str = ""
    argument: str = ""
    value: Any = None

    def rewrite(self, module: ModuleOp) -> int:
        if self.right is None or not self.right.rewrite(module):
            return 0
        calls: list[Any] = [op for op in entry_graph(module).block.ops if op.name == self.op]
        if not calls:
            return 0
        data = list(calls[-1].args.data)
        data[calls[-1].table.index[self.argument]] = self.value
        calls[-1].properties["args"] = ArgsAttr(tuple(data))
        return 1


@pytest.mark.parametrize(
    ("name", "op", "argument", "value"),
    [
        ("constant_fold_uniform_value", "aten.full.default", "fill_value", 11),
        ("fuse_seed_creation_pass", "prims.inductor_lookup_seed.default", "index", 0),
        ("fuse_offset_creation_pass", "aten.select.int", "index", 0),
        ("replace_randint", "prims.inductor_randint.default", "high", 4),
        ("fix_iota_device", "prims.iota.default", "start", 1),
    ],
)
def test_a_changed_argument_is_found(name: str, op: str, argument: str, value: Any) -> None:
    result = _of(name, lambda one: replace(one, one=_Wrong(one.one, op, argument, value)))
    assert result.status == "violated", result


def test_what_does_not_fire_is_no_validation() -> None:
    @dataclass(frozen=True)
    class Idle(_Wrong):
        def rewrite(self, module: ModuleOp) -> int:
            return 0

    result = _of("remove_redundant_views", lambda one: replace(one, one=Idle()), most=3)
    assert result.status == "vacuous"
    assert result.idle == 3


def test_an_attention_of_another_scale_is_found() -> None:
    from tests.specimens.attention_specimens import attention
    from xductor.backend.pass_validation.close_results import close_results

    first, second = (next(attention(number)) for number in (1, 2))
    other = second.changed()
    assert other is not None

    @dataclass(frozen=True)
    class Other(_Wrong):
        def rewrite(self, module: ModuleOp) -> int:
            block = entry_graph(module).block
            made = entry_graph(other).block
            mapped: Any = dict(zip(made.args, block.args, strict=True))
            for op in reversed(list(block.ops)):
                block.erase_op(op)
            for op in made.ops:
                block.add_op(op.clone(value_mapper=mapped))
            return 1

    make = lambda: iter([replace(first, one=Other())])  # noqa: E731
    result = validate_pass("wrong", Specimens(make, close_results))
    assert result.status == "violated", result


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: Any, tmp_path: Any) -> None:
    file = tmp_path / "validations.json"
    file.write_text(records.OURS.read_text())
    monkeypatch.setattr(records, "OURS", file)
    assert command.main(["validate", "fuse_offset_creation_pass", "--write"]) == 0
    shown = capsys.readouterr().out
    assert "fuse_offset_creation_pass: validated, 60 graphs" in shown
    assert "given the same draws" in shown
    assert records.read(file).keys() == ENTRIES.keys()
    found, kept = (one["fuse_offset_creation_pass"] for one in (records.read(file), ENTRIES))
    assert found | {"torch": kept["torch"]} == kept


_MINE = """
import torch

from xductor.backend.pass_validation.comparison import same_results
from xductor.backend.pass_validation.specimen import Specimen, Specimens, traced
from xductor.transforms.joint_graph.remove_redundant_views import RemoveRedundantViews


def graphs():
    for size in (2, 3):
        module = traced(lambda x: x.view(torch.int32).view(x.dtype) + 1, torch.ones(size))
        yield Specimen(f"size {size}", module, RemoveRedundantViews())


SPECIMENS = {"mine": Specimens(graphs, same_results)}
"""


@pytest.mark.parametrize("names", [[], ["mine"]])
def test_a_module_of_the_users(
    names: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    file = tmp_path / "mine_specimens.py"
    file.write_text(_MINE)
    assert command.main(["validate", *names, "--specimens", str(file)]) == 0
    assert capsys.readouterr().out.startswith("mine: validated, 2 graphs")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected SPECIMENS, a mapping from names of passes to Specimens, found none"),
        ("SPECIMENS = {}", "found {}"),
        ("SPECIMENS = {'mine': print}", "expected Specimens"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_module_without_specimens(
    text: str, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    file = tmp_path / "wrong_specimens.py"
    file.write_text(text)
    assert command.main(["validate", "--specimens", str(file)]) != 0
    assert message in capsys.readouterr().err


def test_records_are_not_kept_of_a_users_module(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["validate", "--specimens", "mine", "--write"]) != 0
    assert "--write keeps records of our passes" in capsys.readouterr().err


@pytest.fixture
def _not_a_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    monkeypatch.setattr(specimen_modules, "_CHECKOUT", tmp_path)
    specimen_modules.ours.cache_clear()
    yield
    specimen_modules.ours.cache_clear()


@pytest.mark.usefixtures("_not_a_checkout")
@pytest.mark.parametrize("given", [["remove_no_ops"], ["_sfdp_pattern_5"], ["--all"]])
def test_where_our_specimens_are_not_installed(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["validate", *given]) != 0
    assert "run this from a checkout" in capsys.readouterr().err


@pytest.mark.usefixtures("_not_a_checkout")
def test_declared_rewrites_need_no_specimens(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["pointless_view", "remove_noop_ops:aten.clone.default"]
    assert command.main(["validate", *names, "--instances", "2"]) == 0
    assert capsys.readouterr().out.count("validated") == 2
    assert command.main(["validate", "nonesuch"]) != 0
    assert "no declared rewrite that is loaded is called 'nonesuch'" in capsys.readouterr().err
