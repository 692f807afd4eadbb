"""The text of modules: printing, parsing, resources."""
