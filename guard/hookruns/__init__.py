"""What the git hooks share: which cases to run, what a verdict means there, and in words."""
