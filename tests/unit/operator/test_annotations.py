from __future__ import annotations

from typing import Any

import pytest

from heliograph.errors import ConfigError
from heliograph.operator.annotations import offsets_request, restarts, without
from heliograph.operator.resource import read_mirror
from support.strimzi_resources import annotated, mirror_resource

_NAME = "a->b.MirrorSourceConnector"


def _with_offsets(**annotations: str) -> dict[str, Any]:
    resource = mirror_resource()
    resource["spec"]["mirrors"][0]["sourceConnector"] |= {
        "listOffsets": {"toConfigMap": {"name": "listed"}},
        "alterOffsets": {"fromConfigMap": {"name": "wanted"}},
    }
    return annotated(resource, **annotations)


def test_restart_annotations_are_calls_of_connects_api() -> None:
    found = restarts(
        {
            "strimzi.io/restart-connector": _NAME,
            "strimzi.io/restart-connector-task": f"{_NAME}:2",
        }
    )

    assert [str(each) for each in found.values()] == [
        "POST /connectors/a-%3Eb.MirrorSourceConnector/restart?includeTasks=false&onlyFailed=false",
        "POST /connectors/a-%3Eb.MirrorSourceConnector/tasks/2/restart",
    ]


@pytest.mark.parametrize(
    ("action", "method", "config_map"),
    [("list", "GET", "listed"), ("alter", "PATCH", "wanted"), ("reset", "DELETE", "")],
)
def test_offsets_are_listed_altered_and_reset(action: str, method: str, config_map: str) -> None:
    mirror = read_mirror(_with_offsets(connector_offsets=action, mirrormaker_connector=_NAME))

    request = offsets_request(mirror)

    assert request is not None
    assert request.config_map == config_map
    assert request.key == "a--b.MirrorSourceConnector.json"
    call = request.call('{"offsets": []}')
    assert (call.method, call.body) == (method, {"offsets": []} if action == "alter" else None)


@pytest.mark.parametrize(
    ("annotations", "sentence"),
    [
        ({"connector_offsets": "erase"}, "expected list, alter or reset, found 'erase'"),
        ({"connector_offsets": "list"}, "expected one of a->b.MirrorSourceConnector"),
        (
            {
                "connector_offsets": "list",
                "mirrormaker_connector": "a->b.MirrorCheckpointConnector",
            },
            "listOffsets.toConfigMap.name: missing",
        ),
    ],
)
def test_requests_that_cannot_be_carried_out_are_refused(
    annotations: dict[str, str], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        offsets_request(read_mirror(_with_offsets(**annotations)))


def test_offsets_that_are_no_json_are_refused_with_the_name_of_the_config_map() -> None:
    mirror = read_mirror(_with_offsets(connector_offsets="alter", mirrormaker_connector=_NAME))
    request = offsets_request(mirror)

    assert request is not None
    with pytest.raises(ConfigError, match=r"ConfigMap wanted: expected offsets as JSON in a--b"):
        request.call("offsets:")


def test_the_patch_removes_only_annotations_that_are_there() -> None:
    mirror = read_mirror(annotated(mirror_resource(), restart_connector=_NAME))

    assert without(mirror, "strimzi.io/restart-connector", "strimzi.io/other") == {
        "metadata": {"annotations": {"strimzi.io/restart-connector": None}}
    }
