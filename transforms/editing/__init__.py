"""What passes need to change a graph: whether a value may stand for another, sizes as operands."""
