"""The story that `guard demo` plays: its stations, the player, and the agent's files."""
