"""A local HTTP gateway between an agent and its provider, which keeps the agent's context window within limits."""
