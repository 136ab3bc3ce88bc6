"""Checks one way to one cluster: every bootstrap server, the login, every broker that the cluster names."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.probe import Probe, probe, reach
from heliograph.client.security.certificates import Certificate
from heliograph.counted import counted
from heliograph.errors import ClientError
from heliograph.inspection.check.parties import Login
from heliograph.inspection.check.report import LoginCheck, Outcome, Step
from heliograph.inspection.check.rights import some
from heliograph.inspection.check.steps import (
    connection_steps,
    furthest,
    login_failure,
    login_text,
)

#: For each step, since a person waits for the answer. The machine's resolver has limits of its own.
STEP_SECONDS = 5.0
_AT_ONCE = 8


@dataclass(slots=True, kw_only=True)
class OpenLogin:
    """`client`: None if the login failed. Steps are added while rights are checked."""

    login: Login
    steps: list[Step] = field(default_factory=list)
    client: ClusterClient | None = None
    certificate: Certificate | None = None

    def result(self) -> LoginCheck:
        config = self.login.config
        return LoginCheck(
            cluster=config.alias,
            clients=tuple(sorted(self.login.clients)),
            bootstrap_servers=config.bootstrap_servers,
            login=login_text(config.security),
            steps=tuple(self.steps),
            certificate=self.certificate,
        )


def open_login(login: Login, on_step: Callable[[str, str], None]) -> OpenLogin:
    """`on_step(cluster, step)` shows the progress. Raises no ClientError."""
    config, opened = login.config, OpenLogin(login=login)
    begin = partial(on_step, config.alias)

    def try_server(server: str) -> Probe:
        return probe(server, config.security, timeout=STEP_SECONDS, on_stage=begin)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        probes = list(pool.map(try_server, config.bootstrap_servers))
    best = furthest(probes)
    session = best.tls or best.shown
    opened.certificate = session.certificate if session is not None else None
    opened.steps += connection_steps(probes, config, int(time.time() * 1000))
    if best.error is None:
        begin("authenticate")
        _log_in(opened, begin)
    return opened


def _log_in(opened: OpenLogin, begin: Callable[[str], None]) -> None:
    config = opened.login.config
    client = ClusterClient(config, client_id="heliograph-check", timeout=STEP_SECONDS)
    try:
        metadata = client.refresh()
    except ClientError as e:
        client.close()
        opened.steps.append(login_failure(e, config.security))
        return
    opened.client = client
    if config.security.sasl is not None:
        opened.steps.append(Step(name="authenticate", outcome=Outcome.OK))
    visible = f"{counted(len(metadata.partitions), 'topic')} visible to this user"
    opened.steps.append(Step(name="describe", outcome=Outcome.OK, detail=visible))
    begin("brokers")
    opened.steps.append(_brokers(opened, metadata.nodes))


def _brokers(opened: OpenLogin, nodes: Mapping[int, tuple[str, int]]) -> Step:
    """Clients use the addresses that brokers advertise, not the bootstrap servers."""
    config = opened.login.config
    subject = f"cluster {config.alias!r}"

    def fails(address: tuple[str, int]) -> ClientError | None:
        return reach(*address, config.security, subject=subject, timeout=STEP_SECONDS)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        errors = dict(zip(nodes, pool.map(fails, nodes.values()), strict=True))
    shown = some([f"{host}:{port}" for host, port in nodes.values()])
    lost = {node: error for node, error in errors.items() if error is not None}
    if not lost:
        return Step(name="brokers", outcome=Outcome.OK, detail=f"{len(nodes)} reached: {shown}")
    reasons = "; ".join(f"broker {node}: {error}" for node, error in lost.items())
    return Step(
        name="brokers",
        outcome=Outcome.FAILED,
        detail=f"{len(lost)} of {len(nodes)} not reached: {reasons}",
        remedy="check the brokers' advertised.listeners: this machine must reach these addresses",
    )
