"""When to collect, what goes, and the edited copy of the window."""
