"""The alert rules: promtool's tests of them, a runbook each, and what the live proof makes of them."""

from __future__ import annotations

import subprocess

import pytest
import yaml

from dashboards.alerts import RULES, shortened
from dashboards.faults import FAULTS
from dashboards.prometheus import installed
from support.repository import ROOT

ALERTS = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


@pytest.mark.skipif(
    installed("promtool") is None, reason="promtool is not installed: apt-get install prometheus"
)
def test_promtool_finds_the_rules_valid_and_their_tests_pass() -> None:
    promtool = installed("promtool")
    assert promtool is not None
    for command in (
        ["check", "rules", RULES.name],
        ["test", "rules", "heliograph.rules.test.yml"],
    ):
        done = subprocess.run(
            [promtool, *command], cwd=RULES.parent, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_runbook_with_its_name_and_a_severity() -> None:
    for alert in ALERTS:
        page = ROOT / alert["annotations"]["runbook_url"]
        assert page.read_text().startswith(f"# {alert['alert']}\n"), page
        assert alert["labels"]["severity"] in ("critical", "warning")
        assert f"({page.name})" in (page.parent / "README.md").read_text()


def test_every_alert_has_a_promtool_test_and_a_real_fault() -> None:
    tests = (RULES.parent / "heliograph.rules.test.yml").read_text()
    caused = {alert for fault in FAULTS for alert in fault.alerts}
    names = {alert["alert"] for alert in ALERTS}
    assert names == caused
    assert [name for name in names if name not in tests] == []


def test_the_live_proof_divides_durations_and_leaves_thresholds() -> None:
    assert shortened("for: 5m\nx[15m] offset 15m > 30 and y < 14 * 86400") == (
        "for: 20s\nx[60s] offset 60s > 30 and y < 14 * 86400"
    )
