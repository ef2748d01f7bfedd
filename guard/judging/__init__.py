"""Commits judged by the offline rules, one by one and in ranges; refusals in words."""
