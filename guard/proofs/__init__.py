"""Proofs: the broken state of a regression, its two sides, and the verdict."""
