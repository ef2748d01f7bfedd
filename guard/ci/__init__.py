"""``guard ci``: what a service says of its job, the commits it brings, and what they concern."""
