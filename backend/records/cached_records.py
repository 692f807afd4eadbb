"""Stores the records of stage calls in Inductor's caches, beside what the stages made.

An entry of the FX graph cache holds the records of its graph's post-grad stage; an entry of
AOTAutograd's cache holds those of the stages before. A compile whose result comes out of a cache
publishes them, marked as `cached`. They are stored as JSON text, so that whoever reads the entry
needs nothing of ours.

A compile keeps its records in its state until the graph that they belong to is stored:

1. When a key of AOTAutograd's is made, a compile begins; earlier records belong to another.
2. When a key of a graph's is made, post-grad records so far belong to a graph that was not stored.
3. When a graph is stored or found, records of the stages before belong to it, by its key.
4. When AOTAutograd's entry is stored, it gets those of the stages before its forward.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xductor.backend.config import compile_state, versions
from xductor.backend.config.compile_state import CompileState
from xductor.backend.records import stage_records
from xductor.backend.records.record_content import stage_content, stage_of
from xductor.backend.records.stage_records import StageRecord

_FIELD = "xductor_records"


@dataclass(eq=False)
class _Unstored:
    """The records of a compile that are not stored yet.

    `records` holds those of stage calls, until the graph to which they belong is stored; `before`
    those of the stages before a graph, by the graph's key; `loading` those of the graphs from which
    a result of AOTAutograd's cache is being made.
    """

    records: list[StageRecord] = field(default_factory=list[StageRecord])
    before: dict[str, list[StageRecord]] = field(default_factory=dict[str, list[StageRecord]])
    loading: list[StageRecord] | None = None


def _unstored(state: CompileState) -> _Unstored:
    return state.kept.setdefault(__name__, _Unstored())


def made(record: StageRecord) -> None:
    """A stage call of the current compile has ended."""
    state = compile_state.current()
    if state.settings is not None:
        _unstored(state).records.append(record)


def key_made(autograd: bool) -> None:
    """A key is being made, for AOTAutograd's cache or for that of graphs."""
    records = _unstored(compile_state.current()).records
    records[:] = [] if autograd else [one for one in records if one.stage != "post_grad"]


def before_graph_is_stored(key: str, graph: Any) -> None:
    """Store the records of a graph's post-grad stage with it."""
    state = compile_state.current()
    _attach(graph, [one for one in _unstored(state).records if one.stage == "post_grad"])
    _belongs(state, key)


def before_result_is_stored(_: str, entry: Any) -> None:
    """Store the records of the stages before the forward with an entry of AOTAutograd's cache.

    An entry that holds its graphs itself, which are then stored nowhere else, gets all records.
    """
    unstored = _unstored(compile_state.current())
    info = getattr(getattr(entry, "compiled_fw", None), "fx_graph_cache_info", None)
    _attach(entry, unstored.before.get(info[0], ()) if info else unstored.records)


def attach() -> None:
    """Make the readers of both caches publish the records that come with an entry. Done once."""
    for owner, name in versions.cache_readers():
        found = getattr(owner, name)
        if not hasattr(found, _FIELD):
            wrapped = _graph_reader(found) if name == "load_with_key" else _result_reader(found)
            setattr(wrapped, _FIELD, True)
            setattr(owner, name, staticmethod(wrapped) if name == "load_with_key" else wrapped)


def _graph_reader(stock: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(stock)
    def load_with_key(key: str, *args: Any, **kwargs: Any) -> Any:
        answer = stock(key, *args, **kwargs)
        state = compile_state.current()
        graph = answer[0]
        if graph is None or state.settings is None:
            return answer
        found = _attached(graph)
        if found is None:
            found = [_unknown()]
        loading = _unstored(state).loading
        if loading is not None:  # AOTAutograd's reader publishes them, if all are found
            loading += found
        else:
            _belongs(state, key)
            stage_records.publish_cached(found)
        return answer

    return load_with_key


def _result_reader(stock: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(stock)
    def wrap_post_compile(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = compile_state.current()
        if state.settings is None:
            return stock(self, *args, **kwargs)
        unstored = _unstored(state)
        outer, loading = unstored.loading, list[StageRecord]()
        unstored.loading = loading
        try:
            answer = stock(self, *args, **kwargs)
            found = [*(_attached(self) or ()), *loading]
        finally:
            unstored.loading = outer
        stage_records.publish_cached(found or [_unknown()])
        return answer

    return wrap_post_compile


def _belongs(state: CompileState, key: str) -> None:
    """Assign the records that belong to no graph yet to the graph of a key."""
    unstored = _unstored(state)
    before = [one for one in unstored.records if one.stage != "post_grad"]
    if before:
        unstored.before[key] = before
    unstored.records.clear()


def _attach(holder: Any, records: Sequence[StageRecord]) -> None:
    # Whoever finds them spent no time, and equal results must be equal text.
    content = [stage_content(replace(one, cpu_ns=0, compile=0)) for one in records]
    setattr(holder, _FIELD, json.dumps(content))


def _attached(holder: Any) -> list[StageRecord] | None:
    text = getattr(holder, _FIELD, None)
    return None if text is None else [stage_of(content) for content in json.loads(text)]


def _unknown() -> StageRecord:
    """The record of a graph that was stored without any."""
    return StageRecord("post_grad", "not recorded", "unknown", "structure", nodes_before=0)


__all__ = [
    "attach",
    "before_graph_is_stored",
    "before_result_is_stored",
    "key_made",
    "made",
]
