"""Higher-order ops that run a graph once for each row, as loops."""
