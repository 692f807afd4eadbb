"""Loads generated source as a module, with its lines at hand for tracebacks and `explain`."""

from __future__ import annotations

import hashlib
import linecache
import sys
from importlib.abc import InspectLoader
from importlib.util import module_from_spec, spec_from_loader
from types import CodeType, ModuleType

from xductor.transforms.matching.traced_source import TRACED


class _SourceLoader(InspectLoader):
    """Loads one module from its text."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file

    def get_source(self, fullname: str) -> str:
        return self.text

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.text, self.file)


def module_of(text: str) -> ModuleType:
    """The module that a text is. Equal texts have the same name in every process."""
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    name, file = f"xductor_traced_{digest}", f"{TRACED}{digest}>"
    loader = _SourceLoader(text, file)
    spec = spec_from_loader(name, loader)
    assert spec is not None  # a loader is given
    module = module_from_spec(spec)
    module.__file__ = file
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


__all__ = ["module_of"]
