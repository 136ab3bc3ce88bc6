"""What commands print for programs: JSON and YAML of the same values."""

from __future__ import annotations

import json

import pytest
import yaml

from heliograph.cli.choices import Output
from heliograph.cli.output.documents import document
from heliograph.model import PartitionState, TopicPartition

VALUE = {
    "state": PartitionState.RUNNING,
    "partition": TopicPartition("t", 3),
    "names": frozenset({"a"}),
    "error": "\x1b[31m \u202e",
    "none": None,
}


@pytest.mark.parametrize("many", [False, True])
def test_yaml_and_json_say_the_same(many: bool) -> None:
    as_yaml = document(VALUE, Output.YAML, one_of_many=many)
    as_json = document(VALUE, Output.JSON, one_of_many=many)

    assert yaml.safe_load(as_yaml) == json.loads(as_json)
    assert yaml.safe_load(as_yaml)["partition"] == {"topic": "t", "partition": 3}
    assert (as_yaml + as_json).replace("\n", "").isprintable()


def test_of_many_json_has_a_line_and_yaml_a_document_each() -> None:
    assert "\n" not in document(VALUE, Output.JSON, one_of_many=True)
    two = "\n".join(document(VALUE, Output.YAML, one_of_many=True) for _ in range(2))
    assert len(list(yaml.safe_load_all(two))) == 2
