"""A plain FX pass for stock Inductor's hooks: nothing of it is written for xductor.

It computes `log(1 + x)` by `log1p`, which is more accurate for small `x`. `xductor.check` and
`pytest --xductor-verify` tell whether the graph that it leaves is right.
"""

import torch
from torch.fx import Graph, Node

aten = torch.ops.aten


def use_log1p(graph: Graph) -> None:
    """To be set as `torch._inductor.config.post_grad_custom_post_pass`."""
    for log in graph.find_nodes(op="call_function", target=aten.log.default):
        (total,) = log.args
        if not _adds_one(total):
            continue
        with graph.inserting_before(log):
            made = graph.call_function(aten.log1p.default, (total.args[0],))
        made.meta = dict(log.meta)  # its value has the type that the log had
        log.replace_all_uses_with(made)
        graph.erase_node(log)
    graph.eliminate_dead_code()


def _adds_one(node: Node) -> bool:
    """Whether a node is `x + 1` for an `x` of the dtype of the sum: an integer becomes no float."""
    if node.target is not aten.add.Tensor or node.args[1:] != (1,) or node.kwargs:
        return False
    return node.args[0].meta["val"].dtype == node.meta["val"].dtype


def use_log1p_wrongly(graph: Graph) -> None:
    """The same without care: `1 + x` of integers has another dtype than its logarithm."""
    for log in graph.find_nodes(op="call_function", target=aten.log.default):
        (total,) = log.args
        if total.target is aten.add.Tensor and total.args[1:] == (1,):
            log.target = aten.log1p.default
            log.args = (total.args[0],)
            log.meta["val"] = total.meta["val"]
    graph.eliminate_dead_code()
