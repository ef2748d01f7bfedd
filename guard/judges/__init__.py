"""The expectation ``judge``: models asked to judge a reply, and what is made of their votes."""
