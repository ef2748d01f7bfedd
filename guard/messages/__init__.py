"""Commit messages as git stores them, and which changes of prose are cosmetic."""
