"""Makes a module smaller that still shows a fault."""
