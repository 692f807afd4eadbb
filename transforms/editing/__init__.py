"""How passes change a graph: the editor, replacing one value by another, sizes as operands."""
