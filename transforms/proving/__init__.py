"""The prover: whether what a rewrite matches and what it puts there agree, for all sizes and bits.

`prover.prove(rewrite)` is the way in. Nothing here runs in a compile, and z3 is imported when a
proof needs it (`solver.z3_module`).
"""
