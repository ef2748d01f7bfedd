"""An adapter of Regression Guard."""
