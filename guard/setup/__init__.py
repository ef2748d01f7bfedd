"""Setting a repository up: what it has, what its history says, and the files to write."""
