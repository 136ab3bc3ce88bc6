from __future__ import annotations

from heliograph.config.connectors.validation import validate

_CONFIG = {
    "name": "mirror",
    "connector.class": "MirrorSourceConnector",
    "source.cluster.alias": "a",
    "target.cluster.alias": "b",
    "source.cluster.bootstrap.servers": "a:9092",
    "target.cluster.bootstrap.servers": "b:9092",
}
_NUMBER = "refresh.topics.interval.seconds"


def test_a_number_that_a_config_provider_fills_in_is_no_error() -> None:
    infos = validate({**_CONFIG, _NUMBER: "${secrets:kafka/tuning:refresh}"})

    assert infos.errors == ()
    (info,) = [each for each in infos.configs if each.name == _NUMBER]
    assert info.value == "${secrets:kafka/tuning:refresh}"


def test_other_text_in_place_of_a_number_is_one() -> None:
    (error,) = validate({**_CONFIG, _NUMBER: "${soon}"}).errors

    assert "Not a number of type LONG" in error
