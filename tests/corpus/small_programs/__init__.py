"""Small programs of our own: every kind of graph that a frontend meets, at least once."""

from __future__ import annotations

from tests.corpus.small_programs import arguments, callables, objects, outputs, tuples
from tests.corpus.small_programs.program import KINDS, PROGRAMS, Program

__all__ = ["KINDS", "PROGRAMS", "Program", "arguments", "callables", "objects", "outputs", "tuples"]
