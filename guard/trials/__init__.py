"""How one trial runs: its workspace, sandbox and processes, and how it is graded."""
