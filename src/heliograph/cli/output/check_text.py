"""Prints a check: a line for each step and right, and below what fails its remedy."""

from __future__ import annotations

from collections.abc import Iterator

from heliograph.cli.output.escaping import visible
from heliograph.inspection.check.report import (
    FlowCheck,
    LoginCheck,
    MirrorCheck,
    Outcome,
    RightCheck,
)
from heliograph.inspection.check.rights import some

_WIDTH = max(len(outcome) for outcome in Outcome)
_REMEDY = "remedy: "
_STEP_WIDTH = len("authenticate")


def check_lines(found: MirrorCheck) -> Iterator[str]:
    """A remedy that was told before is not told again."""
    told: set[str] = set()
    for line in _lines(found):
        if line not in told:
            yield visible(line)
        if line.lstrip().startswith(_REMEDY):
            told.add(line)


def _lines(found: MirrorCheck) -> Iterator[str]:
    for warning in found.warnings:
        yield f"warning: {warning}"
    for login in found.logins:
        yield from _login(login)
    for flow in found.flows:
        yield from _flow(flow)
    for change in found.changed:
        yield f"changed: {change}"
    if not found.changed:
        yield "Nothing was changed."
    yield _verdict(found)


def _login(login: LoginCheck) -> Iterator[str]:
    servers = some(login.bootstrap_servers)
    yield f"cluster {login.cluster} ({servers}) as {', '.join(login.clients)}: {login.login}"
    for step in login.steps:
        yield _line(step.outcome, f"{step.name.ljust(_STEP_WIDTH)}  {step.detail}")
        yield from _remedy(step.remedy)


def _flow(flow: FlowCheck) -> Iterator[str]:
    yield f"rights of {flow.name}"
    for right in flow.rights:
        yield _line(right.outcome, _right(right))
        yield from _remedy(right.remedy)
    for unknown in flow.unknown:
        yield _line(Outcome.UNKNOWN, unknown)


def _right(right: RightCheck) -> str:
    names = some(right.names) or "none"
    kind = f" {right.resource} {names}" if right.resource != "Cluster" else " the cluster"
    operations = ", ".join(right.operations)
    detail = f": {right.detail}" if right.detail else ""
    return f"on {right.cluster} as {right.client}: {operations} on{kind} ({right.purpose}){detail}"


def _line(outcome: Outcome, text: str) -> str:
    return f"  {outcome.ljust(_WIDTH)}  {text}".rstrip()


def _remedy(remedy: str) -> Iterator[str]:
    if remedy:
        yield f"  {'':{_WIDTH}}  {_REMEDY}{remedy}"


def _verdict(found: MirrorCheck) -> str:
    if not found.failures:
        return "ok: nothing failed"
    return f"failed: {found.failures}"
