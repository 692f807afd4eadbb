"""Loads passes and operators from modules that are named on a command line."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

from xdsl.passes import ModulePass

from xductor.backend.cli.command import CommandError

if TYPE_CHECKING:
    from xductor.transforms import Rewrite, TypedPass
    from xductor.transforms.rows.pass_row import PassRow

PassFactory = Callable[[], type[ModulePass]]


class PluginError(CommandError):
    """A module that cannot be loaded, or a class that is not in it."""


def load(names: Iterable[str]) -> dict[str, PassFactory]:
    """Import modules (`package.module`, or `path/to/file.py`) and return their passes by name.

    A declared rewrite counts as a pass, unless it has no replacement. Importing a module also
    registers the operator libraries that it defines. The folder of a file is put on `sys.path`.

    Raises PluginError if there is no such module.
    """
    passes: dict[str, PassFactory] = {}
    for name in names:
        module = imported(name)
        for cls in vars(module).values():
            if _is_pass(cls) and cls.__module__ == module.__name__:
                passes[cls.name] = lambda cls=cls: cls
            elif _is_rewrite(cls) and cls.__module__ == module.__name__ and not _unfit(cls):
                passes[cls.name] = lambda cls=cls: pass_of_rewrite(cls)
    return passes


def not_here(row: PassRow) -> str:
    """Why a pass that `xductor passes` lists is none of ours that runs on IR."""
    if row.covered_by:
        return f"'{row.name}' is done by '{row.covered_by}'"
    return (
        f"'{row.name}' is Inductor's own ({row.kind}, {row.stage} stage): it runs in compiles "
        "only, on the FX graph"
    )


def rewrite_named(name: str) -> type[Rewrite]:
    """The declared rewrite called `name`, in a loaded module or our passes; or the class given as
    `module:Class` or `path/to/file.py:Class`.

    Raises PluginError if there is none.
    """
    from xductor.transforms import Rewrite
    from xductor.transforms.rows.registry import rows

    home, colon, attribute = name.rpartition(":")
    if colon:
        found = getattr(imported(home), attribute, None)
        _check_fit(found, name)
        if _is_rewrite(found):
            return found
        raise PluginError(f"'{name}' is no declared rewrite; expected module:Class")
    known = {one.name: one for one in _subclasses(Rewrite)}
    row = next((row for row in rows() if row.name == name), None)
    if name not in known and row is not None and row.kind == "procedural":
        raise PluginError(f"'{name}' is a procedural pass: xductor validate {name} --prove")
    if name not in known and row is not None and not row.factory:
        raise PluginError(not_here(row))
    if name not in known and Path(name).is_file():
        raise PluginError(f"'{name}' is a file; name a rewrite in it: path/to/file.py:Class")
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "name it as module:Class"
        raise PluginError(f"no declared rewrite that is loaded is called '{name}'; {hint}")
    return known[name]


def rewrite_or_pass_named(name: str) -> type[Rewrite | TypedPass] | str:
    """The declared rewrite or pass called `name`, in a loaded module or our passes; or the class
    given as `module:Class` or `path/to/file.py:Class`. A name that `xductor passes` lists but that
    is no class of ours is returned as it is.

    Raises PluginError if there is none.
    """
    from xductor.transforms import Rewrite, TypedPass
    from xductor.transforms.rows.registry import rows

    home, colon, attribute = name.rpartition(":")
    if colon:
        found = getattr(imported(home), attribute, None)
        _check_fit(found, name)
        if _is_rewrite(found) or (isinstance(found, type) and issubclass(found, TypedPass)):
            return found
        raise PluginError(f"'{name}' is no rewrite or pass; expected module:Class")
    known: dict[str, Any] = {
        **{row.name: row.name for row in rows()},
        **{one.name: one for base in (TypedPass, Rewrite) for one in _named(base)},
    }
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "name it as module:Class"
        raise PluginError(f"no rewrite or pass that is loaded is called '{name}'; {hint}")
    return known[name]


def _check_fit(found: object, name: str) -> None:
    if said := _unfit(found, f"'{name}'"):
        raise PluginError(said)


def _unfit(found: object, shown: str = "") -> str:
    from xductor.backend.config.unfit_rewrites import unfit

    return unfit(found, shown)


def _named(base: type[Any]) -> Iterator[type[Any]]:
    return (one for one in _subclasses(base) if getattr(one, "name", ""))


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for one in cls.__subclasses__():
        yield one
        yield from _subclasses(one)


def _is_rewrite(cls: object) -> TypeGuard[type[Rewrite]]:
    # A module that defines rewrites has imported their base class.
    home = sys.modules.get("xductor.transforms.rewriting.rewrite")
    return home is not None and isinstance(cls, type) and issubclass(cls, home.Rewrite)


def pass_of_rewrite(declared: type[Rewrite]) -> type[ModulePass]:
    """A pass that applies one rewrite; its option `policy` says which numerics are admitted."""
    from xductor.transforms.rewriting.declared_pass import pass_of

    return pass_of(declared)


def _is_pass(cls: object) -> bool:
    return (
        isinstance(cls, type)
        and issubclass(cls, ModulePass)
        and not inspect.isabstract(cls)
        and isinstance(getattr(cls, "name", None), str)
    )


def imported(name: str) -> ModuleType:
    """The module of that name, or of that file.

    Raises PluginError if there is none, or if its code raises.
    """
    try:
        return _module(name)
    except PluginError:
        raise
    except Exception as error:  # whatever the module's code raises
        raise PluginError(f"cannot load '{name}': {_told(error)}") from error


def _told(error: Exception) -> str:
    """An error with the line that raised it."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<")
    ]
    where = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    return f"{where}{type(error).__name__}: {error}"


def _module(name: str) -> ModuleType:
    path = Path(name)
    if path.suffix != ".py":
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise PluginError(f"cannot load '{name}': {error}") from error
    if not path.is_file():
        raise PluginError(f"cannot load '{name}': no such file")
    if (loaded := _loaded_from(path)) is not None:
        return loaded
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as Python does for a script, so that it can import neighbours
    if _imports_as(path.stem, path):
        return importlib.import_module(path.stem)
    return _under_another_name(path)


def _imports_as(name: str, path: Path) -> bool:
    """Whether `import name` gives that file: others that import it must get the same module."""
    try:
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
    except ValueError:  # a module that has no spec
        return False
    return spec is not None and Path(spec.origin or "").resolve() == path.resolve()


def _under_another_name(path: Path) -> ModuleType:
    """The module of a file whose own name is that of another module."""
    module_name = f"xductor_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module


def _loaded_from(path: Path) -> ModuleType | None:
    """The module that was made from a file already: a second one would register its operators
    again, and hold other classes. A script that is running does not count.
    """
    for name, module in list(sys.modules.items()):
        file = Path(getattr(module, "__file__", None) or "")
        if file.name == path.name and name != "__main__" and file.resolve() == path.resolve():
            return module
    return None
