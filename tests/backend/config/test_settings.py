"""Options become settings, or an error that says what to write instead."""

from __future__ import annotations

import threading
from dataclasses import FrozenInstanceError, dataclass

import pytest
import torch._inductor.config

import xductor
from xductor.backend.config import settings
from xductor.backend.config.settings import Settings, SettingsError, split_options
from xductor.ir import aten


class Rewrite:
    stage = "joint"


class TestFromOptions:
    def test_defaults(self):
        assert Settings.from_options() == Settings(
            on_error="fallback", verify="structure", numerics="default", rewrites=(), validate=None
        )

    def test_all(self):
        made = Settings.from_options(
            {
                "xductor.on_error": "raise",
                "xductor.verify": "types",
                "xductor.numerics": "strict",
                "xductor.rewrites": [Rewrite],
                "xductor.validate": "values",
                "xductor.disabled_passes": ["pointless_view"],
            }
        )
        assert made == Settings(
            "raise", "types", "strict", (Rewrite,), "values", frozenset({"pointless_view"})
        )
        assert Settings.from_options(made.options()) == made

    def test_frozen_and_hashable(self):
        made = Settings()
        assert hash(made) == hash(Settings())
        with pytest.raises(FrozenInstanceError):
            made.verify = "types"  # type: ignore[misc]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"xductor.numeric": "fast"}, "Did you mean 'xductor.numerics'"),
            ({"xductor.on_errors": "raise"}, "Did you mean 'xductor.on_error'"),
            ({"xductor.zzz": 1}, "unknown option 'xductor.zzz'. The options are: xductor.on_error"),
            ({"xductor.verify": "type"}, "expected one of 'structure', 'types', 'stage'.*'types'"),
            ({"xductor.on_error": True}, "'xductor.on_error': expected one of.*found True"),
            ({"xductor.rewrites": Rewrite}, "expected a list of rewrites, found <class"),
            ({"xductor.rewrites": ["Rewrite"]}, "give the class itself"),
            ({"xductor.rewrites": [int]}, "int is no rewrite or pass: it says no 'stage'"),
            ({"xductor.disabled_passes": "pointless_view"}, "expected a list of pass names"),
            ({"xductor.disabled_passes": [Rewrite]}, "expected names of passes"),
        ],
    )
    def test_errors(self, options, message):
        with pytest.raises(SettingsError, match=message):
            Settings.from_options(options)

    def test_a_rewrite_without_a_replacement(self):
        class Half(xductor.Rewrite, abstract=True):
            stage = "joint"

            def pattern(self, x: xductor.Tensor):
                return aten.neg(aten.neg(x))

        class Whole(Half):
            def replacement(self, x: xductor.Tensor):
                return x

        for one in (Half, Half(), xductor.placed(Half, position="first")):
            with pytest.raises(SettingsError, match=r"Half has no `replacement`.*make a subclass"):
                Settings.from_options({"xductor.rewrites": [one]})
        assert Settings.from_options({"xductor.rewrites": [Whole]}).rewrites == (Whole,)

    def test_what_pattern_from_gives_is_no_rewrite(self):
        made = xductor.pattern_from(lambda x: x.sin().cos(), torch.randn(4), name="SinCos")
        with pytest.raises(SettingsError) as raised:
            Settings.from_options({"xductor.rewrites": [made]})
        assert str(raised.value) == (
            "option 'xductor.rewrites': a TracedPattern with the rewrite SinCos is no rewrite "
            "itself; give its `.rewrite`"
        )
        with pytest.raises(SettingsError, match="SinCos has no `replacement`"):
            Settings.from_options({"xductor.rewrites": [made.rewrite]})

    def test_unhashable_rewrite(self):
        @dataclass
        class Options:
            sizes: list[int]
            stage = "joint"

        with pytest.raises(SettingsError, match="frozen dataclass"):
            Settings.from_options({"xductor.rewrites": [Options([1])]})

    def test_replace(self):
        assert Settings().replace(verify="stage") == Settings(verify="stage")
        with pytest.raises(SettingsError, match=r"Did you mean 'xductor\.verify'"):
            Settings().replace(verfy="stage")


class TestEnvironment:
    def test_comes_over_the_default_and_under_an_option(self, monkeypatch):
        monkeypatch.setenv("XDUCTOR_ON_ERROR", "raise")
        monkeypatch.setenv("XDUCTOR_VERIFY", "types")
        monkeypatch.setenv("XDUCTOR_NUMERICS", "fast")
        monkeypatch.setenv("XDUCTOR_VALIDATE", "values")
        expected = Settings("raise", "types", "fast", (), "values")
        assert Settings.from_options() == settings.current() == expected
        assert Settings.from_options({"xductor.verify": "stage"}).verify == "stage"
        assert Settings.from_options({"xductor.validate": None}).validate is None

    def test_empty_says_nothing(self, monkeypatch):
        monkeypatch.setenv("XDUCTOR_VERIFY", "")
        assert settings.current() == Settings()

    def test_error_names_the_variable(self, monkeypatch):
        monkeypatch.setenv("XDUCTOR_VERIFY", "everything")
        with pytest.raises(SettingsError, match="environment variable XDUCTOR_VERIFY"):
            settings.current()


class TestCurrent:
    def test_use_nests(self):
        with settings.use(Settings(verify="types")) as outer:
            assert settings.current() is outer
            with settings.use(Settings(verify="stage")) as inner:
                assert settings.current() is inner
            assert settings.current() is outer
        assert settings.current() == Settings()

    def test_default_reaches_threads_and_use_does_not(self):
        seen: list[Settings] = []
        default = Settings(numerics="fast")
        settings.set_default(default)
        try:
            with settings.use(Settings(numerics="strict")):
                thread = threading.Thread(target=lambda: seen.append(settings.current()))
                thread.start()
                thread.join()
        finally:
            settings.set_default(None)
        assert seen == [default]


def test_fingerprint_tells_apart_what_changes_a_result():
    prints = {
        Settings().fingerprint(),
        Settings(verify="types").fingerprint(),
        Settings(numerics="fast").fingerprint(),
        Settings(validate="values").fingerprint(),
        Settings(disabled_passes=frozenset({"a"})).fingerprint(),
    }
    assert len(prints) == 5
    assert Settings(on_error="raise").fingerprint() == Settings().fingerprint()
    many = frozenset({"c", "a", "b"})
    assert "disabled=a,b,c" in Settings(disabled_passes=many).fingerprint()


def test_split_options():
    assert split_options(None) == ({}, {})
    assert split_options({"xductor.verify": "types", "max_autotune": True}) == (
        {"xductor.verify": "types"},
        {"max_autotune": True},
    )


@pytest.mark.parametrize("name", ["verify", "on_error", "numerics", "rewrites", "report"])
def test_an_option_without_its_prefix_is_named(name: str) -> None:
    assert not hasattr(torch._inductor.config, name)
    with pytest.raises(SettingsError, match=f"did you mean 'xductor.{name}'"):
        split_options({name: "x"})


def test_an_option_that_inductor_has_too_is_its() -> None:
    assert split_options({"disabled_passes": "a"}) == ({}, {"disabled_passes": "a"})
