"""Making a module smaller that still shows a fault."""
