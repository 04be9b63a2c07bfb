"""
A loopback server that plays Gemini's generateContent: it refuses what the service refuses and answers a script.

It shares no code with ``gc_core``. As Gemini 3 does, it wants back every signature that it gave away, on the call that
carried it.
"""

from __future__ import annotations

import base64
import importlib
import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.support.checker import complaints

JSON = dict[str, Any]
CHARACTERS_A_TOKEN = 4


class GeminiLoopback:
    """
    Gemini on 127.0.0.1 that answers with ``contents`` in order; a context manager, stopped when the block ends.

    ``requests`` keeps every request body, ``refusals`` the message of every refusal.
    """

    def __init__(self, contents: Iterable[JSON] = ()) -> None:
        self.requests: list[JSON] = []
        self.refusals: list[str] = []
        self._replies = iter(list(contents))
        self._signed: dict[bytes, list[JSON]] = {}
        self._unsigned: list[JSON] = []
        self._cached: list[str] = []
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.gemini = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), name="gemini")

    @property
    def url(self) -> str:
        """The base URL for the official client."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def client(self) -> Any:
        """The official client, which talks to nobody else; loaded here, for that takes longer than most tests."""
        genai = importlib.import_module("google.genai")
        return genai.Client(api_key="none", http_options={"base_url": self.url})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def answer(self, body: JSON) -> tuple[int, JSON]:
        """Status and body for one request."""
        self.requests.append(body)
        refused = next(iter([*complaints("gemini", body), *self._signature_complaints(body)]), None)
        if refused is not None:
            self.refusals.append(refused)
            return 400, {"error": {"code": 400, "message": refused, "status": "INVALID_ARGUMENT"}}
        content = next(self._replies, None)
        if content is None:
            return 500, {"error": {"code": 500, "message": "the script has no more replies", "status": "INTERNAL"}}
        self._remember(content)
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        return 200, {"candidates": [candidate], "usageMetadata": self._usage(body, content)}

    def _remember(self, content: JSON) -> None:
        for part in content["parts"]:
            call, signature = call_of(part), signature_of(part)
            if call is not None and signature is not None:
                self._signed.setdefault(signature, []).append(call)
            elif call is not None:
                self._unsigned.append(call)

    def _signature_complaints(self, body: JSON) -> list[str]:
        found = []
        for index, content in enumerate(body.get("contents") or []):
            for part in content.get("parts") or []:
                call, signature = call_of(part), signature_of(part)
                if call is not None and signature is not None and call not in self._signed.get(signature, []):
                    found.append("Corrupted thought signature.")
                if call is not None and signature is None and self._lost_its_signature(call):
                    found.append(
                        f"Function call is missing a thought_signature in functionCall parts. Function call "
                        f"`default_api:{call['name']}`, position {index}."
                    )
        return found

    def _lost_its_signature(self, call: JSON) -> bool:
        return call not in self._unsigned and any(call in calls for calls in self._signed.values())

    def _usage(self, body: JSON, reply: JSON) -> JSON:
        """What was read from the cache is the longest prefix that the request before this one had too."""
        head = {key: value for key, value in body.items() if key != "contents"}
        pieces = [json.dumps(piece, sort_keys=True) for piece in (head, *body["contents"])]
        shared = next(
            (at for at, (old, new) in enumerate(zip(self._cached, pieces, strict=False)) if old != new),
            min(len(self._cached), len(pieces)),
        )
        self._cached = pieces
        sizes = [len(piece) // CHARACTERS_A_TOKEN for piece in pieces]
        out = len(json.dumps(reply)) // CHARACTERS_A_TOKEN
        return {
            "promptTokenCount": sum(sizes),
            "cachedContentTokenCount": sum(sizes[:shared]),
            "candidatesTokenCount": out,
            "totalTokenCount": sum(sizes) + out,
        }


def call_of(part: JSON) -> JSON | None:
    """Name, id and arguments of the call in a part, whatever the spelling of its keys."""
    call = part.get("functionCall") or part.get("function_call")
    if call is None:
        return None
    return {"name": call.get("name"), "id": call.get("id"), "args": call.get("args") or {}}


def signature_of(part: JSON) -> bytes | None:
    """The bytes of the part's signature: clients write base64 in either alphabet."""
    text = part.get("thoughtSignature") or part.get("thought_signature")
    return base64.b64decode(text, altchars=b"-_" if {"-", "_"} & set(text) else None) if text else None


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # so that server_close() waits for them
    gemini: GeminiLoopback


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    timeout = 10

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        if path.endswith("/cachedContents"):
            self._send(200, {"name": "cachedContents/made", "model": body["model"]})
        elif path.endswith(":generateContent"):
            self._send(*self.server.gemini.answer(body))
        else:
            self._send(404, {"error": {"message": "no such path"}})

    def _send(self, status: int, answer: JSON) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Be quiet."""
