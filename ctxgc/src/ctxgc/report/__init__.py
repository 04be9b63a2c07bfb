"""
A session's files as one page: its window over time, what was collected and why, what it cost, and every original.

``walk.read`` makes the values of a session's directory, ``page.page`` the page of the values; no session needs them.
"""
