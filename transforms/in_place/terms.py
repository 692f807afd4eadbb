"""The contents of tensors as terms: equal terms mean equal contents.

A term is a number that stands for a key; equal keys have equal numbers. A write to a part of a
tensor is `put(base, steps, source)`: `base` with `source` in the part that a chain of views leads
to. Rules normalize the keys, so that a graph with in-place ops and its functional original give
equal numbers:

- reading a part that was just put gives what was put; other parts are those of the base;
- putting a part back where it was changes nothing;
- a put into a part is one put with a longer chain;
- a put hides an earlier put to the same part;
- reshapes, permutations and reinterpreted bits move from the part to the whole.
"""

from __future__ import annotations

from typing import Any

#: One view: its kind and its arguments.
Step = tuple[Any, ...]
Steps = tuple[Step, ...]

_WHOLE = ("reshape", "permute", "bits")


class Terms:
    """The terms of one comparison, which both graphs must share."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._keys: list[Any] = []

    def term(self, *key: Any) -> int:
        """The number of a key."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._keys)
            self._keys.append(key)
        return number

    def view(self, term: int, steps: Steps) -> int:
        """The part of a content that a chain of views shows."""
        for step in steps:
            term = self._step(term, step)
        return term

    def put(self, base: int, steps: Steps, source: int) -> int:
        """A content of which a part is replaced."""
        if not steps:
            return source
        if steps[0][0] in _WHOLE:
            inner = self.put(self._step(base, steps[0]), steps[1:], source)
            return self._step(inner, _back(steps[0]))
        key = self._keys[source]
        if key[0] == "put":
            _, under, deeper, written = key
            return self.put(self.put(base, steps, under), (*steps, *deeper), written)
        if source == self.view(base, steps):
            return base
        below = self._keys[base]
        if below[0] == "put" and below[2][: len(steps)] == steps:
            return self.put(below[1], steps, source)
        return self.term("put", base, steps, source)

    def _step(self, term: int, step: Step) -> int:
        key = self._keys[term]
        if step[0] in _WHOLE:
            if key[0] == "view" and key[2][0] == step[0]:
                step, term = _both(key[2], step), key[1]
            if _is_idle(step):
                return term
            return self.term("view", term, step)
        if key[0] == "put":
            _, base, steps, source = key
            if steps[0] == step:
                return self.put(self._step(base, step), steps[1:], source)
            if apart(steps[0], step):
                return self._step(base, step)
        return self.term("view", term, step)


def _both(first: Step, second: Step) -> Step:
    if first[0] != "permute":
        return (first[0], first[1], second[2])
    return ("permute", tuple([first[1][dim] for dim in second[1]]))


def _back(step: Step) -> Step:
    if step[0] != "permute":
        return (step[0], step[2], step[1])
    return ("permute", tuple([step[1].index(dim) for dim in range(len(step[1]))]))


def _is_idle(step: Step) -> bool:
    if step[0] != "permute":
        return step[1] == step[2]
    return step[1] == tuple(range(len(step[1])))


def apart(left: Step, right: Step) -> bool:
    """Whether two views of one tensor are disjoint ranges of one dim."""
    if left[0] != "rows" or right[0] != "rows" or left[1] != right[1]:
        return False
    (start, end), (other, other_end) = left[2:4], right[2:4]
    if any(type(one) is not int for one in (start, end, other, other_end)):
        return False
    return end <= other or other_end <= start


def chains_apart(left: Steps, right: Steps) -> bool:
    """Whether two chains of views of one tensor lead to disjoint parts."""
    for one, other in zip(left, right, strict=False):
        if one != other:
            return apart(one, other)
    return False


__all__ = ["Step", "Steps", "Terms", "apart", "chains_apart"]
