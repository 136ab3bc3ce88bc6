from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from harness.certificates import Authority
from heliograph.errors import EnvironmentProblem
from heliograph.operator.api import find_access, path_of


def _kubeconfig(folder: Path, **user: str) -> Path:
    authority = folder / "ca.crt"
    authority.write_text(Authority("lab").identity.pem)
    cluster = {"server": "https://10.0.0.1:6443/", "certificate-authority": str(authority)}
    config = {
        "current-context": "lab",
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}],
        "clusters": [{"name": "lab", "cluster": cluster}],
        "users": [{"name": "me", "user": user}],
    }
    file = folder / "config"
    file.write_text(yaml.safe_dump(config))
    return file


def test_outside_of_a_pod_the_current_context_is_used(tmp_path: Path) -> None:
    file = _kubeconfig(tmp_path, token="t0ken")

    access = find_access({"KUBECONFIG": str(file)})

    assert access.url == "https://10.0.0.1:6443"
    assert access.bearer == "t0ken"


def test_without_a_kubeconfig_one_sentence_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(
        EnvironmentProblem, match=r"missing: expected a kubeconfig .* set KUBECONFIG"
    ):
        find_access({"KUBECONFIG": str(tmp_path / "missing")})


def test_a_context_that_is_not_there_is_refused(tmp_path: Path) -> None:
    file = _kubeconfig(tmp_path, token="t")
    file.write_text(file.read_text().replace("current-context: lab", "current-context: other"))

    with pytest.raises(EnvironmentProblem, match="expected a kubeconfig with a current context"):
        find_access({"KUBECONFIG": str(file)})


def test_paths_are_those_of_core_and_of_named_groups() -> None:
    assert path_of("v1", "Secret", "kafka", "x") == "/api/v1/namespaces/kafka/secrets/x"
    assert path_of("apps/v1", "Deployment", "kafka", "x") == (
        "/apis/apps/v1/namespaces/kafka/deployments/x"
    )
