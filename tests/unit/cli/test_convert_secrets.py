"""Where `heliograph convert` writes secrets, and where it does not."""

from __future__ import annotations

from pathlib import Path

from heliograph.config.options import OPTIONS, Scope, Support
from support.commands import heliograph_here
from support.flows.planting import Sent, passwords


def test_a_converted_configuration_has_secrets_only_where_it_must(
    tmp_path: Path,
) -> None:
    """Secrets in the file are in the converted file, which would not work without them. Values of config
    providers are not, and notes and warnings contain neither."""
    secrets = tmp_path / "secrets.properties"
    secrets.write_text("login = planted by a provider\n")
    acted = [
        name for name in passwords() if OPTIONS[Scope.CLIENT, name].support is not Support.REFUSED
    ]
    sent = Sent()
    given = {f"us.{name}": value for each in acted for name, value in sent.plant(each).items()}
    given |= {
        "clusters": "us, eu",
        "us.bootstrap.servers": "localhost:1",
        "eu.bootstrap.servers": "localhost:1",
        "us->eu.enabled": "true",
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        "eu.ssl.key.password": f"${{file:{secrets}:login}}",
    }
    config = tmp_path / "mm2.properties"
    config.write_text("".join(f"{name} = {value}\n" for name, value in given.items()))

    for form in ("connect", "strimzi", "properties"):
        done = heliograph_here("convert", config, "--to", form)
        assert done.returncode in (0, 1), done.stderr
        assert "planted by a provider" not in done.stdout + done.stderr
        for secret in sent.secrets:
            assert secret not in done.stderr
