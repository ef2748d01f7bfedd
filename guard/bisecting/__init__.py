"""Which commit broke a case: git's bisection, with the case's own gate as the judge."""
