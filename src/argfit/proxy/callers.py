"""What is known of a server, caller by caller: whose credentials and session a listing was given for, it is for."""

import os
from collections import OrderedDict
from collections.abc import Iterable
from hashlib import blake2b

from argfit.wire.conversation import Memory, Settings
from argfit.wire.tools import Engines

CALLERS = 1_000  # that are remembered: the ones that were heard of last
_WHO = frozenset((b"authorization", b"cookie", b"mcp-session-id"))


class Callers:
    """The callers of one server. Who they are is kept as a keyed hash that means nothing elsewhere."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engines = Engines(settings.strip, settings.repairs, settings.formats)
        self._secret = os.urandom(32)
        self._known: OrderedDict[bytes, Memory] = OrderedDict()

    def memory(self, headers: Iterable[tuple[bytes, bytes]]) -> Memory:
        """What is known by the caller that sends these headers."""
        key = self._key(headers)
        memory = self._known.get(key)
        if memory is None:
            token = os.urandom(8).hex()
            memory = self._known[key] = Memory(self._settings, token, greets=False, engines=self._engines)
            if len(self._known) > CALLERS:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return memory

    def forget(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """A session is over."""
        self._known.pop(self._key(headers), None)

    def _key(self, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        digest = blake2b(key=self._secret, digest_size=16)
        for name, value in headers:
            if name in _WHO:
                digest.update(b"%b:%d:%b;" % (name, len(value), value))
        return digest.digest()
