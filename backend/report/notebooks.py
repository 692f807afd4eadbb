"""Shows modules of the IR in notebooks, as text with types apart and the user's lines on hover.

xDSL's `ModuleOp` is not ours, so it gets no method: IPython is told how to show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xductor.backend.report.op_lines import OpLine

_LINES = 1000

_MODULE = """\
<pre>{% for header, text, types, hint in lines %}
{% if header %}<b>{{ text }}</b>
{% else %}<span title="{{ hint }}">  {{ text }}<span class="quiet">{{ types }}</span></span>
{% endif %}{% endfor %}</pre>
{% if more %}<p class="quiet">and {{ more }} more lines; xductor.print_ir prints all</p>{% endif %}
"""

#: The classes that IPython shows by `module_html`, and where they are.
_SHOWN = (("xdsl.dialects.builtin", "ModuleOp"), ("xductor.ir.dialect.graph", "GraphOp"))


def register(ipython: Any) -> None:
    """Tell a shell of IPython how to show the classes of the IR. Nothing is imported for it."""
    formatter = ipython.display_formatter.formatters["text/html"]
    for module, name in _SHOWN:
        formatter.for_type_by_name(module, name, module_html)


def module_html(module: Any) -> str | None:
    """A module or a graph as HTML; None for a module that holds no graph of ours."""
    from xductor.backend.report.op_lines import graph_lines, module_lines
    from xductor.ir import GraphOp
    from xductor.ir.text.html import fragment

    text = graph_lines(module) if isinstance(module, GraphOp) else module_lines(module)
    if not text.lines:
        return None
    shown = [_shown(line) for line in text.lines[:_LINES]]
    return fragment(_MODULE, lines=shown, more=max(len(text.lines) - _LINES, 0))


def _shown(line: OpLine) -> tuple[bool, str, str, str]:
    """Whether a line begins a graph, its text, its types, and what hovering shows."""
    from xductor.backend.report.page import short_type

    types = ", ".join(map(short_type, line.types))
    place = [] if line.location is None else [f"{line.location[0]}:{line.location[1]}"]
    hint = "\n".join([*line.types, *place])
    return line.op == "fx.graph", line.text, f" : {types}" if types else "", hint


__all__ = ["module_html", "register"]
