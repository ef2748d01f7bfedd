"""regressions.json of two branches as one: what git's merge driver does with three files."""
