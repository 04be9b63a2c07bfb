"""Summaries: what must survive, the extract, the checks, and the model after an extra."""
