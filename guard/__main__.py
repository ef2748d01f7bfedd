"""Run the command line as ``python -m guard``."""

from guard.cli import main

raise SystemExit(main())
