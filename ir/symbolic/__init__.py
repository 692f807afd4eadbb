"""Numbers with symbols: expressions, what is known of them, and the table of a graph."""
