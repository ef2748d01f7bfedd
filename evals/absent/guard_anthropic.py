"""Stands for an adapter that an older state of guard does not have, though it is installed."""
