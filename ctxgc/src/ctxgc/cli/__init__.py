"""The command line `ctxgc`."""
