"""Papers: what comes in with the mail, and what may be said about it."""
