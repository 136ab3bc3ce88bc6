"""Counts the memory of fetch responses until the last view into each is gone.

A batch on its way to the target is a view into the response that it came with, and keeps all of it in memory:
where one small batch of each response waits, the sum of batches is far below the memory in use.
"""

from __future__ import annotations

from functools import partial
from weakref import ref


class Body(bytearray):
    """The bytes of a response. Unlike a plain bytearray it can have weak references."""

    __slots__ = ("__weakref__",)


class FetchMemory:
    """Counts bodies from `watch` until they are freed. For one thread."""

    def __init__(self) -> None:
        self.bytes = 0
        self._watched: dict[int, ref[Body]] = {}  # kept: a dropped reference is never called back

    def watch(self, answer: memoryview) -> None:
        body = answer.obj
        if isinstance(body, Body):
            self.bytes += len(body)
            gone = partial(self._gone, key=id(body), size=len(body))
            self._watched[id(body)] = ref(body, gone)

    def _gone(self, _: ref[Body], *, key: int, size: int) -> None:
        self.bytes -= size
        del self._watched[key]
