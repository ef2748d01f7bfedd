"""Running cases: which ones, how many trials, within what budget, on what evidence."""
