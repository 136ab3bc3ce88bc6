"""What `heliograph convert` says of a configuration that `run` would refuse."""

from __future__ import annotations

from pathlib import Path

from support.commands import heliograph_here
from support.configurations.mm2_files import BASE


def test_what_run_would_refuse_is_told_with_exit_code_1(tmp_path: Path) -> None:
    """The other format would carry the mistake on."""
    config = tmp_path / "mm2.properties"
    config.write_text(f"{BASE}\nus->eu.Topics = orders\nreplication.factor = none\n")

    done = heliograph_here("convert", config, "--to", "connect")

    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if line.startswith("refused by run: ")]
    assert len(said) == 2
    assert "did you mean us->eu.topics?" in done.stderr
    assert "replication.factor: expected a whole number" in done.stderr
    assert "MirrorSourceConnector" in done.stdout


def test_placeholders_that_this_machine_cannot_fill_in_are_no_mistake(tmp_path: Path) -> None:
    config = tmp_path / "mm2.properties"
    config.write_text(
        f"{BASE}\nus.client.id = ${{file:/not/here:id}}\nconfig.providers = file\n"
        "config.providers.file.class = FileConfigProvider\n"
    )

    done = heliograph_here("convert", config, "--to", "connect")

    assert (done.returncode, "refused" in done.stderr) == (0, False)
