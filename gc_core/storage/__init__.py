"""A session's files: log, ledger, checkpoints, recovery, search, audit and purge."""
