"""Python-level targets of FX graphs: their names, their parameters, their meaning.

`call_function` nodes of pre-grad graphs hold Python callables and `call_method` nodes hold method
names. Text names a callable by a dotted path that can be resolved again; rewrites see arguments
by parameter name; functions, operators and methods with one meaning share a canonical name.

A method is given as its name (a str), a function as the callable itself.
"""

from xductor.ir.python.binding import IsValue, bind, bind_method
from xductor.ir.python.canonical_names import canonical_name
from xductor.ir.python.qualified_names import UnknownTarget, qualified_name, resolve
from xductor.ir.python.signatures import Parameter, Signature, method_signatures, signatures

__all__ = [
    "IsValue",
    "Parameter",
    "Signature",
    "UnknownTarget",
    "bind",
    "bind_method",
    "canonical_name",
    "method_signatures",
    "qualified_name",
    "resolve",
    "signatures",
]
