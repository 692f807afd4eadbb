"""Running what a rewrite matched and what it put there on generated inputs."""
