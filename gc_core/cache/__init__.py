"""The provider's prompt cache: its rules and prices as dated data, a simulator of it, and the accounts of a session."""
