"""
Keeps the requests that pass through LiteLLM within the model's window.

In the proxy's configuration ``callbacks: gc_litellm.proxy_callback``; in a program
``litellm.callbacks.append(GCCallback())``.
"""

from gc_core.integrations.lanes import needs

with needs("litellm>=1.108.3", distribution="gc-litellm"):
    from gc_litellm.callback import GCCallback
    from gc_litellm.guardrail import GCGuardrail

__all__ = ["GCCallback", "GCGuardrail", "proxy_callback"]


def __getattr__(name: str) -> object:
    """The callback that a proxy's configuration names, with the settings of ``[gc]`` in ``GC_LITELLM_CONFIG``."""
    if name != "proxy_callback":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = GCCallback.from_environment()
    return globals()[name]
