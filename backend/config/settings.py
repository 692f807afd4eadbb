"""What a compile runs under: the settings, where they come from, and who sees which.

The values are checked on their own. Whether the passes that they name exist is checked when a
backend is made or `install()` is called (`seam.checked_options`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from xductor.backend.config import environment, registered_rewrites

if TYPE_CHECKING:
    from xductor.backend.config.placement import Place

OnError = Literal["fallback", "raise"]
VerifyLevel = Literal["structure", "types", "stage"]
NumericsPolicy = Literal["strict", "default", "fast"]
Validation = Literal["values"]

PREFIX = "xductor."

_CHOICES: dict[str, tuple[str, ...]] = {
    "on_error": get_args(OnError),
    "verify": get_args(VerifyLevel),
    "numerics": get_args(NumericsPolicy),
    "validate": get_args(Validation),
}


class SettingsError(ValueError):
    """An `xductor.*` option or an `XDUCTOR_*` variable that has a wrong name or value."""


@dataclass(frozen=True)
class Settings:
    """How the three stages behave in one compile.

    - `on_error`: after a failed check, `"fallback"` undoes the application or runs only the stage's
      required steps, with one warning; `"raise"` raises the error.
    - `verify`: how much is verified after lowering and before raising.
    - `numerics`: which rewrites are enabled, by what they may change about values; under
      `"strict"` Inductor's own liberties with them are off too (`strict_numerics`).
    - `rewrites`: the user's own passes and rewrites, classes or instances, in order.
    - `validate`: `"values"` runs each matched fragment and its replacement on generated inputs.
    - `disabled_passes`: names of passes that are left out. Options do not accept those that code
      generation needs (`pipelines.disabled_passes`); if disabled here, Inductor's own runs instead.
    - `report`: a folder in which each compile leaves a page that shows it; it then reads no caches.
    """

    on_error: OnError = "fallback"
    verify: VerifyLevel = "structure"
    numerics: NumericsPolicy = "default"
    rewrites: tuple[Any, ...] = ()
    validate: Validation | None = None
    disabled_passes: frozenset[str] = frozenset()
    report: str | None = None

    @classmethod
    def from_options(cls, options: Mapping[str, Any] | None = None) -> Settings:
        """Settings from `{"xductor.on_error": "raise", ...}`, over the environment's.

        Raises SettingsError for an unknown key or a wrong value.
        """
        values = _environment_values()
        for key, value in (options or {}).items():
            name = _setting_name(key)
            values[name] = _checked(name, value, given_as=f"option {key!r}")
        return cls(**values)

    def replace(self, **changes: Any) -> Settings:
        """A copy in which the named settings have other values.

        Raises SettingsError for an unknown name or a wrong value.
        """
        checked = {
            _setting_name(PREFIX + name): _checked(name, value, given_as=f"setting {name!r}")
            for name, value in changes.items()
        }
        return replace(self, **checked)

    @cached_property
    def placed_rewrites(self) -> Mapping[str, Sequence[tuple[Place, Any]]]:
        """The rewrites of each stage as instances, each with its place, in the user's order."""
        from xductor.backend.config import placement

        return placement.by_stage(self.rewrites)

    def options(self) -> dict[str, Any]:
        """The settings that differ from the built-in defaults, as `xductor.*` options."""
        built_in = Settings()
        return {
            PREFIX + field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != getattr(built_in, field.name)
        }

    def fingerprint(self) -> str:
        """Text that is equal for settings under which a compile gives the same result.

        `on_error` is not part of it, since a compile that met an error is not stored, nor `report`,
        under which nothing is stored. Nor are the rewrites, which the cache key identifies by other
        means.
        """
        disabled = ",".join(sorted(self.disabled_passes))
        return (
            f"verify={self.verify} numerics={self.numerics} "
            f"validate={self.validate} disabled={disabled}"
        )


#: Names that are settings of ours, and no options of Inductor's, which has `disabled_passes` too.
_WITHOUT_PREFIX = {one.name for one in fields(Settings)} - {"disabled_passes"}


def split_options(options: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split `options` into the `xductor.*` ones and the rest, which are Inductor's.

    Raises SettingsError for one of ours without the prefix.
    """
    ours: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for key, value in (options or {}).items():
        if key in _WITHOUT_PREFIX:
            raise SettingsError(
                f"{key!r} is no option of Inductor's; did you mean {PREFIX + key!r}?"
            )
        (ours if key.startswith(PREFIX) else rest)[key] = value
    return ours, rest


_default: Settings | None = None
_current: ContextVar[Settings | None] = ContextVar("xductor_settings", default=None)


def current() -> Settings:
    """The settings of the innermost `use`, or else the process's default.

    If `set_default` gave none, the default is the built-in one with the environment over it. The
    registered rewrites are added to a default.
    """
    chosen = _current.get()
    if chosen is not None:
        return chosen
    return with_registered(_default or Settings.from_options())


def with_registered(settings: Settings) -> Settings:
    """`settings` with the registered rewrites after their own; each runs once."""
    registered = registered_rewrites.registered()
    more = tuple(one for one in registered if one not in settings.rewrites)
    return settings.replace(rewrites=(*settings.rewrites, *more)) if more else settings


@contextmanager
def use(settings: Settings) -> Iterator[Settings]:
    """Make `settings` the current ones inside the block, in this thread or task only."""
    token = _current.set(settings)
    try:
        yield settings
    finally:
        _current.reset(token)


def set_default(settings: Settings | None) -> None:
    """Set what `current` returns in every thread in which no `use` is in force."""
    global _default
    _default = settings


def _environment_values() -> dict[str, Any]:
    """The settings given by `XDUCTOR_ON_ERROR` and its like; empty variables count as unset."""
    values: dict[str, Any] = {}
    environment.warn_of_unknown()
    for name in _CHOICES:
        variable = f"XDUCTOR_{name.upper()}"
        if text := os.environ.get(variable):
            values[name] = _checked(name, text, given_as=f"environment variable {variable}")
    if folder := os.environ.get("XDUCTOR_REPORT"):
        values["report"] = _checked_folder(folder, "environment variable XDUCTOR_REPORT")
    return values


def _setting_name(key: str) -> str:
    names = [field.name for field in fields(Settings)]
    name = key.removeprefix(PREFIX)
    if name in names:
        return name
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    guess = f" Did you mean {PREFIX + close[0]!r}?" if close else ""
    known = ", ".join(PREFIX + known_name for known_name in names)
    raise SettingsError(f"unknown option {key!r}.{guess} The options are: {known}")


def _checked(name: str, value: Any, given_as: str) -> Any:
    """`value` in the form in which the field holds it.

    Raises SettingsError, naming `given_as`, what was expected and what was found.
    """
    if name in _CHOICES:
        return _checked_choice(name, value, given_as)
    if name == "report":
        return _checked_folder(value, given_as)
    if isinstance(value, str) or not isinstance(value, Iterable):
        what = "rewrites" if name == "rewrites" else "pass names"
        raise SettingsError(f"{given_as}: expected a list of {what}, found {value!r}")
    items = tuple(value)
    if name == "disabled_passes":
        return _checked_names(items, given_as)
    for item in items:
        _check_rewrite(item, given_as)
    return items


def _checked_choice(name: str, value: Any, given_as: str) -> Any:
    choices = _CHOICES[name]
    if name == "validate" and value is None:
        return None
    if isinstance(value, str) and value in choices:
        return value
    expected = ", ".join(repr(choice) for choice in choices)
    close = get_close_matches(value, choices, n=1) if isinstance(value, str) else []
    guess = f" Did you mean {close[0]!r}?" if close else ""
    raise SettingsError(f"{given_as}: expected one of {expected}, found {value!r}.{guess}")


def _checked_folder(value: Any, given_as: str) -> str | None:
    if value is None or (isinstance(value, str | os.PathLike) and os.fspath(value)):
        return None if value is None else os.path.abspath(os.fsdecode(value))
    raise SettingsError(f"{given_as}: expected the path of a folder or None, found {value!r}")


def _checked_names(items: tuple[Any, ...], given_as: str) -> frozenset[str]:
    for item in items:
        if not isinstance(item, str):
            raise SettingsError(f"{given_as}: expected names of passes, found {item!r} among them")
    return frozenset(items)


def _check_rewrite(item: Any, given_as: str) -> None:
    if isinstance(item, str):
        raise SettingsError(
            f"{given_as}: expected rewrites or passes, found the name {item!r}; "
            "give the class itself, or an instance that carries its options"
        )
    from xductor.backend.config import placement
    from xductor.backend.config.unfit_rewrites import unfit

    if said := unfit(item.rewrite if isinstance(item, placement.Placed) else item):
        raise SettingsError(f"{given_as}: {said}")
    if not hasattr(item, "stage"):
        shown = item.__qualname__ if isinstance(item, type) else repr(item)
        raise SettingsError(
            f"{given_as}: {shown} is no rewrite or pass: it says no 'stage' "
            "('pre_grad', 'joint' or 'post_grad')"
        )
    try:
        placement.place_of(item)
    except placement.PlacementError as error:
        raise SettingsError(f"{given_as}: {error}") from None
    try:
        hash(item)
    except TypeError:
        raise SettingsError(
            f"{given_as}: {item!r} cannot be hashed; make it a frozen dataclass "
            "whose fields can be hashed"
        ) from None
