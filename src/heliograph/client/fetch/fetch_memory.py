"""How much memory answers of brokers take, until the last view into each has gone.

A batch on its way to the target is a view into the answer that it came with, and keeps all of it alive: the
sum of batches says nothing about memory where one small batch of each answer waits.
"""

from __future__ import annotations

from functools import partial
from weakref import ref


class Body(bytearray):
    """The bytes of an answer. Unlike a plain bytearray it can be watched."""

    __slots__ = ("__weakref__",)


class FetchMemory:
    """Counts bodies from `watch` on until nobody holds them any more. For one thread."""

    def __init__(self) -> None:
        self.bytes = 0
        self._watched: dict[int, ref[Body]] = {}  # a reference that is dropped calls nobody

    def watch(self, answer: memoryview) -> None:
        body = answer.obj
        if isinstance(body, Body):
            self.bytes += len(body)
            gone = partial(self._gone, key=id(body), size=len(body))
            self._watched[id(body)] = ref(body, gone)

    def _gone(self, _: ref[Body], *, key: int, size: int) -> None:
        self.bytes -= size
        del self._watched[key]
