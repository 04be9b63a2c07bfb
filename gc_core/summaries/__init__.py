"""Summaries: the facts that must survive, the extract, validation, and models through an extra."""
