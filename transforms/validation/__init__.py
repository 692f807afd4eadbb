"""Validates rewrites: runs what matched and its replacement on generated inputs."""
