"""Sub-tasks of a session: leases of its window, and sessions handed off."""
