"""Regression Guard: the git hook that makes a bug in an agent earn its test."""

__version__ = "0.1.0"
