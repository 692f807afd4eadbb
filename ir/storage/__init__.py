"""Which values of a graph share storage, and which of them are written."""
