from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

from heliograph.machine.identity import Identity


def test_who_starts_again_after_a_kill_has_the_same_name(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from heliograph.machine.identity import Identity; "
        "print(Identity('group a', Path(sys.argv[1])).name)"
    )
    killed = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)

    with closing(Identity("group a", tmp_path)) as again:
        assert again.name is not None
        assert again.name == killed.stdout.strip()


def test_nothing_is_left_of_a_name_after_an_end_in_order(tmp_path: Path) -> None:
    with closing(Identity("group a", tmp_path)):
        assert list(tmp_path.iterdir())

    assert not list(tmp_path.iterdir())


def test_a_second_one_beside_it_has_a_name_of_its_own(tmp_path: Path) -> None:
    with (
        closing(Identity("group a", tmp_path)) as first,
        closing(Identity("group a", tmp_path)) as second,
    ):
        assert second.name is not None
        assert second.name != first.name


def test_another_purpose_is_another_name(tmp_path: Path) -> None:
    with (
        closing(Identity("group a", tmp_path)) as first,
        closing(Identity("group b", tmp_path)) as second,
    ):
        assert second.name != first.name


def test_without_a_folder_there_is_no_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert Identity("group a", tmp_path / "file").name is None
