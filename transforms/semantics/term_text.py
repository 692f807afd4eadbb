"""Terms as text."""

from __future__ import annotations

from xductor.transforms.semantics.terms import Term, constant_value


def show(item: Term) -> str:
    """A term as text."""
    op, args = item.op, item.args
    if op in ("var", "scalar", "number"):
        return str(args[0])
    if op == "constant":
        return str(constant_value(item))
    if op == "poly":
        return " + ".join(
            "*".join(map(str, (*([n] if n != 1 or not m else []), *m))) for m, n in args[0]
        )
    if op == "element":
        return f"{args[0]}[{', '.join(map(str, args[1]))}]"
    if op in ("zero", "nonneg"):
        return f"({args[0]} {'==' if op == 'zero' else '>='} 0)"
    if op == "cast":
        return f"{str(item.sort).removeprefix('torch.')}({args[0]})"
    if op == "call":
        return f"{args[0]}({', '.join(map(str, args[1:]))})"
    if op == "fold":
        over = ", ".join(f"{k} < {n}" for k, n in zip(args[1], args[2], strict=True))
        return f"{args[0]}({args[3]} for {over})"
    return f"{op}({', '.join(map(str, args))})"


__all__ = ["show"]
