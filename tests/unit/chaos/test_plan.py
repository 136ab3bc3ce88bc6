from __future__ import annotations

import pytest

from chaos.__main__ import main
from chaos.faults import FAULTS, named


def test_faults_are_found_by_their_names() -> None:
    assert named(fault.name for fault in FAULTS) == list(FAULTS)


def test_a_full_run_kills_the_service_a_hundred_times_and_strikes_twenty_times_otherwise() -> None:
    assert {f.name: f.strikes for f in FAULTS if f.strikes != 20} == {"service-kill": 100}


def test_an_unknown_fault_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--faults", "earthquake"])

    assert exit_.value.code == 2
    assert "earthquake" in capsys.readouterr().err
