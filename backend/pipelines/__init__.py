"""The pipelines of the three stages, in Inductor's order and driven by Inductor's flags.

`pre_grad.py`, `joint_graph.py` and `post_grad.py` each hold one tuple of steps. A step is typed
(our own passes on the IR) or bridged (a function of Inductor's, or a callable that a user put into
one of Inductor's hooks or tables).
"""
