"""
A session's budget panel: followed while another process writes the session, shown in a terminal or printed once.

Reads alone: it takes no lock and writes nothing. The terminal needs the extra ``inspect``, printing the extra ``cli``.
"""
