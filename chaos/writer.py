"""Writes records with known sequence numbers, in its own process: `python -m chaos.writer spec.json`.

Each topic has one writer. A plain one is idempotent (acks=all), unless its topic is not durable: then the
leader alone acknowledges, and nothing is sent twice. A transactional one commits or aborts every
transaction as its seed says, over all partitions. On SIGTERM everything is flushed, and what brokers
have acknowledged (or committed) goes to the ledger: ranges of sequence numbers per partition.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from confluent_kafka import KafkaError, KafkaException, Producer

from chaos.record import Filler, Identity, encode
from harness.cluster_side import QUIET
from harness.pace import Pace

_TICK_SECONDS = 0.02
_FLUSH_SECONDS = 120.0
_TRANSACTION_SECONDS = (0.05, 0.5)
_ABORT_SHARE = 0.3
_COMPRESSIONS = ("none", "lz4", "zstd", "gzip", "snappy")
_PATIENCE_SECONDS = 30.0
_DURABLE = {"enable.idempotence": True, "acks": "all"}
#: Without idempotence, a record that is sent again could be in the log twice.
_NOT_DURABLE = {"acks": 1, "retries": 0}


class Ledger:
    """Acknowledged sequences of one topic: [first, last] pairs per partition."""

    def __init__(self) -> None:
        self._ranges: dict[int, list[list[int]]] = {}

    def add(self, partition: int, sequence: int) -> None:
        ranges = self._ranges.setdefault(partition, [])
        if ranges and ranges[-1][1] == sequence - 1:
            ranges[-1][1] = sequence
        else:
            ranges.append([sequence, sequence])

    def content(self) -> Mapping[str, list[list[int]]]:
        return {str(partition): ranges for partition, ranges in self._ranges.items()}


class Writer:
    """The writer of one topic."""

    def __init__(self, spec: Mapping[str, Any], topic: Mapping[str, Any], number: int) -> None:
        self._topic: str = topic["name"]
        self._partitions: int = topic["partitions"]
        self._number = number
        self._random = random.Random(f"{spec['seed']}:{number}")
        self._filler = Filler(self._random.randrange(1 << 32))
        self._durable: bool = topic["durable"]
        self._settings = {
            "bootstrap.servers": spec["bootstrap"],
            **(_DURABLE if self._durable else _NOT_DURABLE),
            "linger.ms": 200,
            "compression.type": self._random.choice(_COMPRESSIONS),
            "message.timeout.ms": 0,
            **QUIET,
        }
        self._next = [0] * self._partitions
        self.ledger = Ledger()
        self._producer = self._open()

    def _open(self) -> Producer:
        return Producer(self._settings)

    def write(self, count: int) -> None:
        for _ in range(count):
            self._produce()
        self._producer.poll(0)

    def finish(self) -> None:
        if self._producer.flush(_FLUSH_SECONDS):
            _die(f"{self._topic}: {len(self._producer)} records not acknowledged")

    def _produce(self) -> None:
        partition = self._random.randrange(self._partitions)
        sequence = self._next[partition]
        self._next[partition] += 1
        key = b"k%d" % (sequence % 997) if sequence % 3 else None
        headers = [("sequence", b"%d" % sequence)] if sequence % 5 == 0 else None
        value = encode(Identity(self._number, partition, sequence), self._filler.next())
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    value,
                    key,
                    partition,
                    headers=headers,
                    on_delivery=lambda error, _: self._delivered(error, partition, sequence),
                )
                return
            except BufferError:  # brokers do not answer; the load waits for them
                self._producer.poll(0.1)

    def _delivered(self, error: KafkaError | None, partition: int, sequence: int) -> None:
        if error is None:
            self.ledger.add(partition, sequence)
        elif self._durable:
            _die(f"{self._topic}-{partition}: record {sequence}: {error}")


class TransactionalWriter(Writer):
    """Every transaction ends with a commit or an abort; one with an unknown end is not in the ledger."""

    def _open(self) -> Producer:
        self._pending: list[tuple[int, int]] = []
        self._ends_at = 0.0
        while True:
            producer = Producer(
                self._settings
                | {
                    "transactional.id": f"chaos-{self._topic}",
                    "transaction.timeout.ms": 60_000,
                    "message.timeout.ms": 50_000,
                }
            )
            try:
                producer.init_transactions(_PATIENCE_SECONDS)
                return producer
            except KafkaException as e:
                print(f"{self._topic}: init_transactions: {e}", flush=True)

    def write(self, count: int) -> None:
        try:
            if not self._ends_at:
                self._producer.begin_transaction()
                self._ends_at = time.monotonic() + self._random.uniform(*_TRANSACTION_SECONDS)
            super().write(count)
            if time.monotonic() > self._ends_at:
                self._end(abort=self._random.random() < _ABORT_SHARE)
        except KafkaException as e:
            print(f"{self._topic}: {e}; a new producer", flush=True)
            self._producer = self._open()

    def finish(self) -> None:
        while self._ends_at:
            try:
                self._end(abort=False)
            except KafkaException as e:
                print(f"{self._topic}: {e}; a new producer", flush=True)
                self._producer = self._open()

    def _end(self, *, abort: bool) -> None:
        """Retries retriable errors, aborts if the error requires it, raises others: they need a new
        producer."""
        if not abort:
            self._producer.flush(_PATIENCE_SECONDS)
        while True:
            try:
                if abort:
                    self._producer.abort_transaction(_PATIENCE_SECONDS)
                else:
                    self._producer.commit_transaction(_PATIENCE_SECONDS)
                break
            except KafkaException as e:
                error = e.args[0]
                if error.txn_requires_abort():
                    abort = True
                elif not error.retriable():
                    raise
        if not abort:
            for partition, sequence in self._pending:
                self.ledger.add(partition, sequence)
        self._pending.clear()
        self._ends_at = 0.0

    def _delivered(self, error: KafkaError | None, partition: int, sequence: int) -> None:
        if error is None:
            self._pending.append((partition, sequence))


def _die(why: str) -> NoReturn:
    """Exits at once, from any thread: an incomplete ledger must not be written."""
    print(why, flush=True)
    os._exit(1)


def main(path: Path) -> None:
    spec = json.loads(path.read_text())
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    writers = [
        (TransactionalWriter if topic["transactional"] else Writer)(spec, topic, number)
        for number, topic in enumerate(spec["topics"], start=1)
    ]
    threads = [
        threading.Thread(target=_keep_pace, args=(writer, topic["rate"], stop))
        for writer, topic in zip(writers, spec["topics"], strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ledgers = {
        topic["name"]: writer.ledger.content()
        for writer, topic in zip(writers, spec["topics"], strict=True)
    }
    Path(spec["ledger"]).write_text(json.dumps(ledgers))


def _keep_pace(writer: Writer, rate: float, stop: threading.Event) -> None:
    pace = Pace(rate)
    while not stop.is_set():
        count = int(pace.owed())
        writer.write(count)
        pace.spend(count)
        time.sleep(_TICK_SECONDS)
    writer.finish()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
