from __future__ import annotations

from scripts.newcomer import readmes_file


def test_a_newcomer_takes_readmes_file_with_their_own_addresses() -> None:
    text = readmes_file({"home": "127.0.0.1:1", "cloud": "127.0.0.1:2"})

    assert text.startswith("clusters = home, cloud\n")
    assert "home.bootstrap.servers = 127.0.0.1:1\n" in text
    assert "cloud.bootstrap.servers = 127.0.0.1:2\n" in text
    assert "localhost" not in text
    assert "home->cloud.topics = orders, payments\n" in text
