"""Makes rewrites from functions: `xductor.pattern_from`."""
