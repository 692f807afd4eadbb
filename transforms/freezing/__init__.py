"""Passes over graphs whose parameters became constants (`torch._inductor.config.freezing`)."""
