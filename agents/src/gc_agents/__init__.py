"""gc-core inside coding agents. Nothing is imported here: a hook has to start in milliseconds."""
