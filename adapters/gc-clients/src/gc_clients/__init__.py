"""
Keeps the requests of the vendors' own clients within the model's window.

``Anthropic(http_client=gc_client())``, ``OpenAI(http_client=gc_client())``, and for google-genai
``HttpOptions(httpx_client=gc_client())``; or ``Anthropic(middleware=[GCMiddleware()])`` from ``gc_clients.anthropic``.
"""

from gc_core.integrations.lanes import needs

with needs("httpx2>=2.14", distribution="gc-clients"):
    from gc_clients.transport import AsyncGCTransport, GCTransport, async_gc_client, gc_client

__all__ = ["AsyncGCTransport", "GCTransport", "async_gc_client", "gc_client"]
