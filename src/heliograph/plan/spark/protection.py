"""Decides by Spark's configuration whether secrets may be sent to its executors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

AUTHENTICATES = "spark.authenticate"
#: Each encrypts all that driver and executors send each other.
ENCRYPTS = ("spark.network.crypto.enabled", "spark.ssl.rpc.enabled")
POLICY = "spark.unencrypted.secrets.policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """How Spark protects what the driver sends to tasks from other users of the network and the machines.

    `local`: tasks are child processes of the driver, and nothing leaves the machine.
    """

    master: str
    local: bool = False
    authenticates: bool = False
    encrypts: bool = False

    @property
    def enough(self) -> bool:
        return self.local or (self.authenticates and self.encrypts)

    @property
    def missing(self) -> str:
        """The settings that Spark needs for secrets and does not have."""
        wanted = []
        if not self.authenticates:
            wanted.append(f"{AUTHENTICATES}=true")
        if not self.encrypts:
            wanted.append(f"{ENCRYPTS[0]}=true (or {ENCRYPTS[1]}=true)")
        return " and ".join(wanted)

    @property
    def found(self) -> str:
        """What Spark lacks, as a phrase."""
        lacking = ("authentication", self.authenticates), ("encryption", self.encrypts)
        return " and ".join(f"no {what}" for what, there in lacking if not there)

    def weaker_than(self, other: Protection) -> bool:
        return other.enough and not self.enough


def is_local(master: str) -> bool:
    """False for `local-cluster[…]`, which has separate executors."""
    return master == "local" or master.startswith("local[")


def protection(master: str, setting: Callable[[str], str | None]) -> Protection:
    """By the effective settings of the Spark session."""

    def on(name: str) -> bool:
        return (setting(name) or "false").strip().lower() == "true"

    return Protection(
        master=master,
        local=is_local(master),
        authenticates=on(AUTHENTICATES),
        encrypts=any(map(on, ENCRYPTS)),
    )


def refusal(flow: str, spark: Protection, *, accepted: bool) -> str | None:
    """Why a flow that carries secrets may not run on this Spark; None: it may."""
    if spark.enough or accepted:
        return None
    return (
        f"flow {flow}: Spark at {spark.master}: expected {spark.missing}, since passwords or keys of this "
        f"flow would go to its executors, found {spark.found}; set that in Spark's configuration, or "
        f"{POLICY}=accept if every machine and user of that network may read them (docs/security.md)"
    )


def warning(spark: Protection) -> str:
    """The warning if the user has accepted unencrypted secrets; logged once."""
    return (
        f"Spark at {spark.master}: passwords and keys of the clusters go to its executors, and there is "
        f"{spark.found}, as {POLICY}=accept permits; better set {spark.missing} (docs/security.md)"
    )
