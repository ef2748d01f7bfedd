"""The offline rules, one file each: what a commit or a tree breaks, with the way to mend it.

A rule's ``check(commit)`` takes a `JudgedCommit`; what a whole tree breaks has a function of
its own name. None of them runs a target.
"""
