"""What is known of a server, caller by caller: whose credentials and session a listing was given for, it is for.

Rules
- Who a caller is, is what all its requests say: credentials have many names, and so have tenants. Only what is known to
  be about one request says nothing of it; a header of that kind which is not known costs a listing, never a mix-up.
- A question of ours carries the same, and nothing that may be used once: a proof, or a key that makes a call a repeat.
"""

import os
from collections import OrderedDict
from functools import lru_cache
from hashlib import blake2b

from argfit.wire.conversation import Memory, Settings
from argfit.wire.mirror import Headers
from argfit.wire.tools import Engines

CALLERS = 1_000  # that are remembered: the ones that were heard of last

# What is about one request: its body, the answer that is wanted, the page it is from, its trace, its proof (RFC 9449).
_PASSING = frozenset(
    b"accept accept-charset accept-encoding accept-language cache-control date dnt dpop idempotency-key last-event-id"
    b" mcp-method mcp-name origin pragma prefer priority range referer via"
    b" b3 baggage cf-ray correlation-id request-id sentry-trace traceparent tracestate uber-trace-id"
    b" x-amz-cf-id x-amzn-trace-id x-cloud-trace-context x-queue-start x-request-start".split()
)
_LONG = 64  # bytes of a name; none that is known has so many
_PASSING_KINDS = (b"content-", b"if-", b"mcp-param-", b"sec-", b"x-b3-", b"x-datadog-")
_PASSING_ENDS = (b"-correlation-id", b"-request-id", b"-span-id", b"-trace-id")


def who(headers: Headers) -> Headers:
    """Those headers of a request that may say who calls."""
    return [one for one in headers if len(one[0]) > _LONG or _says_who(one[0])]


@lru_cache(maxsize=1_000)
def _says_who(name: bytes) -> bool:
    return name not in _PASSING and not name.startswith(_PASSING_KINDS) and not name.endswith(_PASSING_ENDS)


class Callers:
    """The callers of one server. Who they are is kept as a keyed hash that means nothing elsewhere."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engines = Engines(settings.strip, settings.repairs, settings.formats)
        self._secret = os.urandom(32)
        self._known: OrderedDict[bytes, Memory] = OrderedDict()

    def memory(self, headers: Headers, target: bytes) -> Memory:
        """What is known by the caller that sends these headers to this target."""
        key = self._key(headers, target)
        memory = self._known.get(key)
        if memory is None:
            token = os.urandom(8).hex()
            memory = self._known[key] = Memory(self._settings, token, greets=False, engines=self._engines)
            if len(self._known) > CALLERS:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return memory

    def forget(self, headers: Headers, target: bytes) -> None:
        """A session is over."""
        self._known.pop(self._key(headers, target), None)

    def _key(self, headers: Headers, target: bytes) -> bytes:
        said = [part for header in who(headers) for part in header]
        # no line break is in any of them (RFC 9110, 5.5)
        return blake2b(b"\n".join((*said, target)), key=self._secret, digest_size=16).digest()
