"""
Golden results for a refactoring: ``python -m tests.golden write FILE`` before it, ``compare FILE`` after each step.

Cases come from the generators of ``tests.fuzz`` and from recorded sessions; these must stay the same between the two.
"""
