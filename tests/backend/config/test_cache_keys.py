"""What one pipeline compiled is never served to another, and is found again by its own."""

from __future__ import annotations

import dataclasses
import linecache
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

from tests.thread_time import least_seconds
from xductor.backend.config import cache_keys, compile_state, versions
from xductor.backend.config.rewrite_identity import rewrite_identity
from xductor.backend.config.settings import Settings
from xductor.backend.seam import dispatch


# Products of matrices alone: Inductor calls a library for them, and no compiler runs.
def chain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.mm(torch.mm(x, w), w)


@dataclasses.dataclass
class Outcome:
    """How one compile of forward and backward fared with the two caches."""

    fx_hits: int
    fx_misses: int
    fx_bypasses: int
    autograd: str
    not_stored: int


HIT = Outcome(2, 0, 0, "hit", 0)
MISS = Outcome(0, 2, 0, "miss", 0)


def compile_and_run(backend: Any = "xductor", *, backward_thread: bool = False, **options: Any):
    torch._dynamo.reset()
    counters.clear()
    x, w = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
    compiled = torch.compile(chain, backend=backend, options=options or None)
    out = compiled(x, w)
    torch.testing.assert_close(out, chain(x, w))
    if backward_thread:
        thread = threading.Thread(target=out.sum().backward)
        thread.start()
        thread.join()
    else:
        out.sum().backward()
    assert x.grad is not None
    autograd = [
        name.removeprefix("autograd_cache_")
        for name in ("autograd_cache_hit", "autograd_cache_miss", "autograd_cache_bypass")
        if counters["aot_autograd"][name]
    ]
    inductor = counters["inductor"]
    return Outcome(
        inductor["fxgraph_cache_hit"],
        inductor["fxgraph_cache_miss"],
        inductor["fxgraph_cache_bypass"],
        ",".join(autograd),
        counters["xductor"]["not_stored"],
    )


class Keep:
    """A rewrite that does nothing; what matters here is who it is."""

    stage = "joint"


class KeepToo:
    stage = "joint"


def enclosed(value: int) -> type:
    class Enclosed:
        stage = "joint"

        def rewrite(self) -> int:
            return value

    return Enclosed


@pytest.mark.usefixtures("empty_cache", "recorded_stages")
class TestWhoIsServed:
    def test_stock_ours_stock(self):
        assert compile_and_run("inductor") == MISS
        assert compile_and_run("xductor") == MISS
        assert compile_and_run("xductor") == HIT
        assert compile_and_run("inductor") == HIT

    def test_ours_then_stock(self):
        assert compile_and_run("xductor") == MISS
        assert compile_and_run("inductor") == MISS
        assert compile_and_run("inductor") == HIT

    def test_backward_in_another_thread(self):
        assert compile_and_run("inductor", backward_thread=True) == MISS
        assert compile_and_run("xductor", backward_thread=True) == MISS
        assert compile_and_run("xductor", backward_thread=True) == HIT
        assert compile_and_run("inductor", backward_thread=True) == HIT

    def test_installed_is_the_same_pipeline(self):
        with dispatch.installed():
            assert compile_and_run("inductor", backward_thread=True) == MISS
            assert compile_and_run("inductor", backward_thread=True) == HIT
        assert compile_and_run("xductor") == HIT
        assert compile_and_run("inductor") == MISS

    def test_whether_onednn_may_be_called(self):
        assert compile_and_run() == MISS
        with torch.backends.mkldnn.flags(enabled=False):
            assert compile_and_run() == MISS
            assert compile_and_run() == HIT
        assert compile_and_run() == HIT

    def test_settings(self):
        assert compile_and_run() == MISS
        assert compile_and_run(**{"xductor.numerics": "fast"}) == MISS
        assert compile_and_run(**{"xductor.numerics": "fast"}) == HIT
        assert compile_and_run(**{"xductor.verify": "stage"}) == MISS
        assert compile_and_run(**{"xductor.disabled_passes": ["pointless_view"]}) == MISS
        # What happens on an error says nothing about a result that came without one.
        assert compile_and_run(**{"xductor.on_error": "raise"}) == HIT

    def test_rewrites(self):
        assert compile_and_run() == MISS
        assert compile_and_run(**{"xductor.rewrites": [Keep]}) == MISS
        assert compile_and_run(**{"xductor.rewrites": [Keep]}) == HIT
        assert compile_and_run(**{"xductor.rewrites": [KeepToo]}) == MISS
        assert compile_and_run(**{"xductor.rewrites": [Keep, KeepToo]}) == MISS

    def test_rewrite_without_stable_hash_bypasses(self):
        bypassed = Outcome(0, 0, 2, "bypass", 0)
        assert compile_and_run(**{"xductor.rewrites": [enclosed(1)]}) == bypassed
        assert compile_and_run(**{"xductor.rewrites": [enclosed(1)]}) == bypassed
        assert compile_and_run() == MISS


@pytest.mark.usefixtures("empty_cache")
class TestNotStored:
    @pytest.mark.parametrize(
        ("stage", "refused", "again"),
        [
            # What the earlier stages did is part of the graphs that the FX cache has as key,
            # but AOTAutograd's key stands before them.
            ("pre_grad", 3, Outcome(0, 2, 0, "miss", 3)),
            ("joint", 3, Outcome(0, 2, 0, "miss", 3)),
            ("post_grad", 3, Outcome(0, 2, 0, "miss", 3)),
        ],
    )
    def test_the_result_of_a_fallback(self, recorded_stages, stage, refused, again):
        def fall_back(call):
            if call.stage == stage:
                cache_keys.do_not_store("a test")

        recorded_stages.before = fall_back
        assert compile_and_run().not_stored == refused
        assert compile_and_run() == again
        recorded_stages.before = None
        assert compile_and_run() == MISS
        assert compile_and_run() == HIT

    def test_fallback_in_the_backward_alone(self, recorded_stages):
        def fall_back(call):
            if recorded_stages.names().count("post_grad") == 2:
                cache_keys.do_not_store("a test")

        recorded_stages.before = fall_back
        assert compile_and_run(backward_thread=True) == Outcome(0, 2, 0, "miss", 2)
        recorded_stages.take()
        recorded_stages.before = None
        # The forward was right and is found; the backward and the pair are not.
        assert compile_and_run() == Outcome(1, 1, 0, "miss", 0)
        assert compile_and_run() == HIT

    def test_fallback_of_joint_while_the_graphs_are_cached(self, recorded_stages):
        """The forward comes from the FX cache; the pair must not enter AOTAutograd's."""
        torch.compile(chain, backend="xductor")(
            torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
        )
        recorded_stages.before = lambda call: (
            cache_keys.do_not_store("a test") if call.stage == "joint" else None
        )
        assert compile_and_run() == Outcome(1, 1, 0, "miss", 2)
        assert compile_and_run() == Outcome(1, 1, 0, "miss", 2)

    def test_inference(self, recorded_stages):
        recorded_stages.before = lambda call: (
            cache_keys.do_not_store("a test") if call.stage == "joint" else None
        )
        for _ in range(2):
            torch._dynamo.reset()
            counters.clear()
            with torch.no_grad():
                torch.compile(chain, backend="xductor")(torch.randn(4, 4), torch.randn(4, 4))
            assert counters["aot_autograd"]["autograd_cache_miss"] == 1
            assert counters["xductor"]["not_stored"] == 2

    def test_it_concerns_one_compile(self, recorded_stages):
        recorded_stages.before = lambda call: cache_keys.do_not_store("a test")
        compile_and_run()
        recorded_stages.before = None
        assert compile_and_run() == MISS

    def test_outside_a_compile_it_does_nothing(self, recorded_stages):
        cache_keys.do_not_store("a test")
        assert compile_and_run() == MISS
        assert compile_and_run() == HIT


class TestKeyPart:
    def test_stock_adds_nothing(self):
        assert cache_keys.key_part() is None

    def test_says_who_and_how(self):
        part = self.part(Settings(numerics="fast", rewrites=(Keep,)))
        assert part[:3] == ("xductor", cache_keys.package_version(), cache_keys.source_hash())
        assert "numerics=fast" in part[3]
        assert "Keep" in part[4]

    def test_order_of_rewrites_counts(self):
        assert self.part(Settings(rewrites=(Keep, KeepToo))) != self.part(
            Settings(rewrites=(KeepToo, Keep))
        )

    def test_same_in_another_process(self):
        code = (
            "from xductor.backend.config import cache_keys, compile_state\n"
            "from xductor.backend.config.settings import Settings\n"
            "with compile_state.entered(compile_state.begin(Settings(verify='types'))):\n"
            "    print(cache_keys.key_part())\n"
        )
        other = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        cache_keys.source_hash.cache_clear()  # the sources may have changed since
        assert other.stdout.strip() == str(self.part(Settings(verify="types")))

    @staticmethod
    def part(settings: Settings) -> tuple[str, ...]:
        with compile_state.entered(compile_state.begin(settings)):
            part = cache_keys.key_part()
        assert part is not None
        return part


class TestSourceHash:
    def test_is_fast(self):
        def is_made_anew() -> None:
            cache_keys.source_hash.cache_clear()
            cache_keys.source_hash()

        assert least_seconds(is_made_anew, limit=0.05) < 0.05

    def test_follows_names_and_contents(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        room = tmp_path / "room"
        room.mkdir()

        spec = ModuleSpec("room", None, is_package=True)
        spec.submodule_search_locations = [str(room)]
        monkeypatch.setattr(cache_keys, "find_spec", lambda name: spec)

        def fresh() -> str:
            cache_keys.source_hash.cache_clear()
            return cache_keys.source_hash()

        try:
            (room / "a.py").write_text("x = 1\n")
            first = fresh()
            assert fresh() == first
            (room / "a.py").write_text("x = 2\n")
            second = fresh()
            (room / "a.py").rename(room / "b.py")
            third = fresh()
            assert len({first, second, third}) == 3
        finally:
            cache_keys.source_hash.cache_clear()


@pytest.fixture
def load_module(tmp_path: Path) -> Iterator[Callable[[str], ModuleType]]:
    """Make a module of a text, which stands in a file as long as the test runs."""
    names: list[str] = []

    def load(text: str) -> ModuleType:
        path = tmp_path / "rewrites_of_a_user.py"
        path.write_text(text)
        linecache.checkcache()
        spec = spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[path.stem] = module
        names.append(path.stem)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in names:
        sys.modules.pop(name, None)


class TestRewriteIdentity:
    def test_class_in_a_file(self):
        identity = rewrite_identity(Keep)
        assert identity is not None
        assert identity == rewrite_identity(Keep)
        assert identity != rewrite_identity(KeepToo)

    def test_content_of_the_file(self, load_module):
        text = "class Mine:\n    stage = 'joint'\n    alpha = 1\n"
        first = rewrite_identity(load_module(text).Mine)
        second = rewrite_identity(load_module(text.replace("1", "2")).Mine)
        assert first is not None
        assert second is not None
        assert first != second

    def test_options_of_an_instance(self):
        @dataclasses.dataclass(frozen=True)
        class Scaled:
            factor: Any
            stage = "joint"

        def identity(value: Any) -> str | None:
            return rewrite_identity(Scaled(value))

        assert identity(1) is not None
        # One equals the other; a rewrite can tell them apart.
        assert len({identity(1), identity(1.0), identity(True), identity((1,))}) == 4
        assert identity(0.0) != identity(-0.0)
        assert identity(torch.float32) != identity(torch.float16)
        assert identity(object()) is None
        assert identity((1, object())) is None
        assert identity(frozenset({"b", "a"})) == identity(frozenset({"a", "b"}))

    def test_own_uuid(self):
        class Named:
            stage = "joint"

            def __init__(self, name: Any) -> None:
                self.name = name

            def uuid(self) -> Any:
                return self.name

        first = rewrite_identity(Named("a"))
        assert first is not None
        assert first != rewrite_identity(Named("b"))
        assert rewrite_identity(Named(None)) is None

    def test_class_over_variables_has_none(self):
        assert rewrite_identity(enclosed(1)) is None

    def test_borrowed_method_counts(self, load_module):
        def borrowed(text: str) -> str | None:
            lender = load_module(text)

            class Borrower:
                stage = "joint"
                rewrite = lender.rewrite

            return rewrite_identity(Borrower)

        first = borrowed("def rewrite(self): return 1\n")
        assert first is not None
        assert first != borrowed("def rewrite(self): return 2\n")

    def test_class_of_no_file_has_none(self):
        typed_in = type("TypedIn", (), {"stage": "joint", "__module__": "nowhere"})
        assert rewrite_identity(typed_in) is None


class TestTag:
    """Where the class that makes the keys is unknown, the tag in the configuration serves."""

    @pytest.fixture(autouse=True)
    def unknown_key_class(self, monkeypatch: pytest.MonkeyPatch, recorded_stages):
        monkeypatch.setattr(versions, "cache_key_class", lambda: None)

    def test_reaches_forward_and_backward(self, recorded_stages):
        config = versions.compiler_config()
        tags: list[str] = []
        recorded_stages.before = lambda call: tags.append(config.cache_key_tag)
        with config.patch(cache_key_tag="mine"):
            compile_and_run(**{"xductor.numerics": "fast"})
        assert len(tags) == 4
        assert len(set(tags)) == 1
        assert tags[0].startswith("mine ")
        assert cache_keys.source_hash() in tags[0]
        assert "numerics=fast" in tags[0]
        assert config.cache_key_tag == ""

    def test_not_twice_the_same_without_a_stable_hash(self, recorded_stages):
        config = versions.compiler_config()
        tags: list[str] = []
        recorded_stages.before = lambda call: tags.append(config.cache_key_tag)
        for _ in range(2):
            compile_and_run(**{"xductor.rewrites": [enclosed(1)]})
        assert len(set(tags)) > 1

    def test_install_refuses(self):
        with pytest.raises(versions.UnsupportedTorchError, match="cache keys"):
            dispatch.install()
        assert not compile_state.is_installed()


def test_wrapping_happens_once():
    assert cache_keys.install_key()
    key_class: Any = versions.cache_key_class()
    before: Callable[..., Any] = key_class.__init__
    assert cache_keys.install_key()
    assert key_class.__init__ is before
