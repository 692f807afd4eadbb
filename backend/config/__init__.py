"""What a compile runs under: settings, users' rewrites, versions of torch, cache keys."""
