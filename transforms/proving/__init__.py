"""The prover: whether what a rewrite matches and its replacement agree, for all sizes and bits.

`prover.prove(rewrite)` is the entry point. Nothing here runs in a compile, and z3 is imported when
a proof needs it (`solver.z3_module`).
"""
