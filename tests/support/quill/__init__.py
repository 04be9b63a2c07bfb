"""A made-up fifth provider: the folder that a new one would have in ``gc_core/providers``."""
