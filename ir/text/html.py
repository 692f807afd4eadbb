"""HTML for notebooks: what `_repr_html_` of modules, explanations, records and diffs returns."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template

#: Colors with an alpha, since a notebook is light or dark.
_STYLE = """\
<style>
.xductor { font-size: 13px; line-height: 1.5; }
.xductor pre, .xductor code { font-family: ui-monospace, Menlo, Consolas, monospace;
  font-size: 12px; background: none; color: inherit; padding: 0; margin: 0; text-align: left;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.xductor table { border-collapse: collapse; font-size: inherit; }
.xductor th, .xductor td { text-align: left; vertical-align: top; padding: 2px 10px; }
.xductor th { font-weight: 500; opacity: .65; }
.xductor .quiet { opacity: .6; } .xductor .added { background: rgba(60, 180, 90, .18); }
.xductor .removed { background: rgba(220, 70, 70, .18); }
.xductor .changed { background: rgba(220, 160, 40, .18); }
.xductor summary { cursor: pointer; } .xductor details { margin: 2px 0; }
.xductor .good { color: #2f9e44; font-weight: 600; } .xductor .bad { color: #e03131;
  font-weight: 600; }
</style>
"""


def fragment(template: str, **values: Any) -> str:
    """The HTML of a Jinja template, with a style. Every value is escaped."""
    return f'{_STYLE}<div class="xductor">{_compiled(template).render(**values)}</div>'


@cache
def _compiled(template: str) -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(template)


__all__ = ["fragment"]
