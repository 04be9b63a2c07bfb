"""What in the window still matters: what calls did, and to which files, records and pages."""
