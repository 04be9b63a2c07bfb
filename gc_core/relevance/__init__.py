"""Relevance of the window's content: the actions of calls, and the files, records and pages they concern."""
