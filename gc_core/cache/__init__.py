"""The provider's prompt cache: economics, breakpoints, and the accounts of a session."""
