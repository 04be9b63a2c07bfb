"""
A session's budget panel: followed while another process writes the session, in a terminal or printed once.

Read-only: it takes no lock and writes nothing. The terminal needs the extra ``inspect``, printing the extra ``cli``.
"""
