"""The object that a host holds."""
