"""What a compile runs under: settings, the rewrites of users, versions, cache keys."""
