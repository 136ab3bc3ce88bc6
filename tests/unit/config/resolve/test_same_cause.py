from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.connectors.worker import load_worker
from heliograph.config.resolve.same_cause import told_once
from heliograph.errors import ConfigError
from support.configurations.forms_files import WORKER


def test_clients_with_the_same_problem_share_one_sentence() -> None:
    assert told_once(
        [
            "sasl.jaas.config: bad (worker.properties:8)",
            "other: bad (worker.properties:9)",
            "producer.sasl.jaas.config: bad (worker.properties:11)",
            "admin.sasl.jaas.config: worse (worker.properties:12)",
            "consumer.sasl.jaas.config: bad (worker.properties:13)",
        ]
    ) == [
        "sasl.jaas.config: bad (worker.properties:8; the same in worker.properties:11, worker.properties:13)",
        "other: bad (worker.properties:9)",
        "admin.sasl.jaas.config: worse (worker.properties:12)",
    ]


def test_keys_derived_from_one_line_are_one_problem() -> None:
    derived = [f"{kind}sasl.jaas.config: bad (mm2.yaml:8)" for kind in ("", "producer.", "admin.")]

    assert told_once(derived) == ["sasl.jaas.config: bad (mm2.yaml:8)"]


def test_clusters_stay_apart_and_sentences_without_a_place_stay_as_they_are() -> None:
    apart = ["us.producer.x: bad (f:1)", "eu.producer.x: bad (f:2)", "nothing to run", "a: b"]

    assert told_once([*apart, "nothing to run"]) == apart


def test_a_login_written_four_times_is_refused_once(tmp_path: Path) -> None:
    path = tmp_path / "worker.properties"
    kinds = ("", "producer.", "consumer.", "admin.")
    path.write_text(WORKER + "".join(f"{kind}security.protocol = SASL_SL\n" for kind in kinds))

    with pytest.raises(ConfigError) as raised:
        load_worker(path, {})

    (problem,) = raised.value.problems
    assert problem.startswith("security.protocol: expected ")
    assert problem.endswith(
        "found 'SASL_SL' (worker.properties:6; the same in worker.properties:7, worker.properties:8, "
        "worker.properties:9)"
    )
