"""Numbers with symbols: expressions, facts about them, and the symbol table of a graph."""
