"""Counts what one client of a cluster does: connections, logins, bytes and the times of its requests."""

from __future__ import annotations

from heliograph.measured import ClientReport, Stopwatch


class Meter:
    """Written by the thread of its client, read by any. Numbers of one report may be a moment apart."""

    __slots__ = (
        "broker_certificates",
        "client_certificate_ends",
        "connections",
        "login_failures",
        "reachable",
        "received_bytes",
        "requests",
        "sent_bytes",
    )

    def __init__(self) -> None:
        self.connections = 0  # opened
        self.login_failures = 0  # and failed TLS handshakes
        self.reachable = True  # false while no broker answers
        self.received_bytes = 0
        self.sent_bytes = 0
        self.requests = Stopwatch()  # fetch and produce requests, from sending to the answer

        #: By address: when the broker's certificate expires, in seconds since 1970; the newest connection's.
        self.broker_certificates: dict[str, float] = {}
        self.client_certificate_ends: float | None = None

    def report(self, cluster: str) -> ClientReport:
        return ClientReport(
            cluster=cluster,
            connections=self.connections,
            login_failures=self.login_failures,
            reachable=self.reachable,
            received_bytes=self.received_bytes,
            sent_bytes=self.sent_bytes,
            requests=self.requests.read(),
            # list() copies in one step: another thread may add a broker.
            broker_certificate_ends=min(list(self.broker_certificates.values()), default=None),
            client_certificate_ends=self.client_certificate_ends,
        )
