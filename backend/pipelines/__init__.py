"""The three stage pipelines, in Inductor's order and driven by Inductor's flags.

``pre_grad.py``, ``joint_graph.py`` and ``post_grad.py`` each hold one tuple of steps. A step is
typed (passes of ours over the typed IR) or bridged (Inductor's own function, or a callable a user
put on one of Inductor's hooks or tables).
"""
