"""The git hooks: each turns what git gives it into a Change and calls the engine."""
