"""The commands, one file each: ``add_arguments`` and one function named like the command."""
