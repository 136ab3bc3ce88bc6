"""How records are transformed, as files say it: chains, policies, and what follows from them."""

from __future__ import annotations

import pickle

import pytest

from heliograph.config.connectors.read_connectors import read_connector
from heliograph.config.lane import in_words, read_chain
from heliograph.inspection.dry_run import switched_off
from heliograph.inspection.group_status import all_untranslated
from heliograph.model import OnError
from heliograph.transforms.topics import RegexRouter
from support.configurations.forms_files import CHECKPOINT, SOURCE, worker
from support.configurations.mm2_files import BASE, Reader

MASK = """\
us->eu.transforms = mask
us->eu.transforms.mask.type = org.apache.kafka.connect.transforms.MaskField$Value
us->eu.transforms.mask.fields = name
"""
ROUTE = """\
us->eu.transforms = route
us->eu.transforms.route.type = org.apache.kafka.connect.transforms.RegexRouter
us->eu.transforms.route.regex = (.*)
us->eu.transforms.route.replacement = $1-x
"""
CONNECT_MASK = {
    "transforms": "mask",
    "transforms.mask.type": "org.apache.kafka.connect.transforms.MaskField$Value",
    "transforms.mask.fields": "name",
}


def test_without_such_a_setting_a_flow_has_no_lane_and_copies_at_least_once(mm2: Reader) -> None:
    (flow,) = mm2(BASE).flows
    assert (flow.lane, flow.exactly_once) == (None, None)


def test_transforms_make_a_lane_that_a_task_can_read_again(mm2: Reader) -> None:
    (flow,) = mm2(BASE + MASK).flows
    assert flow.lane is not None
    assert (flow.lane.on_error, flow.lane.routes) == (OnError.FAIL, False)
    sent = pickle.loads(pickle.dumps(flow))
    (stage,) = read_chain(sent.lane).stages
    assert stage.alias == "mask"


def test_a_lane_is_exactly_once_unless_the_worker_says_otherwise(mm2: Reader) -> None:
    (flow,) = mm2(BASE + MASK).flows
    assert flow.exactly_once is not None
    (flow,) = mm2(BASE + MASK + "eu.exactly.once.source.support = disabled\n").flows
    assert flow.exactly_once is None


def test_offsets_of_a_flow_that_masks_are_translated(mm2: Reader) -> None:
    mirror = mm2(BASE + MASK)
    (flow,) = mirror.flows
    assert flow.keeps_offset_map
    assert None not in (flow.offset_syncs, flow.checkpoints)
    assert mirror.warnings == ()


def test_those_of_one_that_routes_are_not_and_a_warning_says_so(mm2: Reader) -> None:
    mirror = mm2(BASE + ROUTE)
    (flow,) = mirror.flows
    assert flow.lane is not None
    assert isinstance(read_chain(flow.lane).stages[0].transform, RegexRouter)
    assert (flow.keeps_offset_map, flow.offset_syncs, flow.checkpoints) == (False, None, None)
    assert mirror.warnings == (
        "us->eu: transforms may route records to other topics, so that offsets cannot be translated: no "
        "checkpoints are written, and groups are not synced; emit.checkpoints.enabled = false says that this "
        "is meant",
    )
    meant = mm2(BASE + ROUTE + "us->eu.emit.checkpoints.enabled = false\n")
    assert not [each for each in meant.warnings if "translated" in each]


def test_quarantine_on_error_gives_the_flow_its_topic_and_leaves_large_records_alone(
    mm2: Reader,
) -> None:
    (flow,) = mm2(BASE + MASK + "us->eu.on.error = quarantine\n").flows
    assert flow.quarantine is not None
    assert flow.quarantine.name == "mm2-quarantine.us.internal"
    assert flow.lane is not None
    assert not flow.lane.quarantines_oversize


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            MASK.replace("mask.fields", "mask.field"),
            "us->eu.transforms.mask.field: transforms.mask.field: unknown setting, without effect; did you "
            "mean transforms.mask.fields? (mm2.properties:7)",
        ),
        (
            MASK.replace("MaskField$Value", "MaskFeld$Value"),
            "us->eu.transforms.mask.type: Invalid value org.apache.kafka.connect.transforms.MaskFeld$Value "
            "for configuration transforms.mask.type: Class "
            "org.apache.kafka.connect.transforms.MaskFeld$Value could not be found. Did you mean "
            "MaskField$Value? (mm2.properties:6)",
        ),
        (
            "us->eu.transforms = mask\n",
            'us->eu.transforms: Missing required configuration "transforms.mask.type" which has no default '
            "value. (mm2.properties:5)",
        ),
        (
            "us->eu.function = mine\n",
            "us->eu.function: expected module:function, such as cleaning:without_names, found 'mine' "
            "(mm2.properties:5)",
        ),
        (
            "us->eu.function = not_there_at_all:f\n",
            "function: not_there_at_all cannot be imported (ModuleNotFoundError: No module named "
            "'not_there_at_all'); install it where executors run, or add it to PYTHONPATH "
            "(mm2.properties:5)",
        ),
        (
            MASK + "us->eu.on.error = ignore\n",
            "us->eu.on.error: expected fail or quarantine or skip, found 'ignore' (mm2.properties:8)",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(mm2: Reader, text: str, problem: str) -> None:
    assert problem in mm2.problems(BASE + text)


def test_settings_without_effect_are_said(mm2: Reader) -> None:
    top = MASK.replace("us->eu.transforms.mask.fields", "transforms.mask.fields")
    mirror = mm2(BASE + "us->eu.on.error = skip\n")
    assert mirror.warnings == (
        "us->eu.on.error: has no effect without transforms or function (mm2.properties:5)",
    )
    assert any("transforms.mask.fields" in each for each in mm2.problems(BASE + top))


def test_a_source_connector_has_a_lane_too_and_no_other_connector() -> None:
    beside = "exactly.once.source.support=enabled\n"
    found = read_connector("m", {**SOURCE, "topics": "t", **CONNECT_MASK}, worker(beside))
    assert found.problems == ()
    assert found.flow is not None
    assert found.flow.lane is not None

    found = read_connector("m", {**CHECKPOINT, **CONNECT_MASK}, worker())
    assert found.problems == (
        "transforms: only records that MirrorSourceConnector copies can be transformed; leave it out "
        "(connector m)",
    )


def test_an_alias_given_twice_is_said_once(mm2: Reader) -> None:
    problems = mm2.problems(BASE + MASK.replace("= mask\n", "= mask, mask\n", 1))
    assert len([each for each in problems if each.startswith("us->eu.transforms:")]) == 1


def test_plan_says_what_records_pass_without_values_of_settings(mm2: Reader) -> None:
    (flow,) = mm2(BASE + MASK + "us->eu.on.error = skip\n").flows
    assert flow.lane is not None
    assert in_words(flow.lane) == "records pass mask (MaskField$Value); on.error = skip"
    assert not all_untranslated(flow)


def test_status_and_plan_say_that_no_group_is_followed_where_records_are_routed(
    mm2: Reader,
) -> None:
    (flow,) = mm2(BASE + ROUTE).flows
    assert list(all_untranslated(flow)) == ["all groups"]
    assert not [part for part in switched_off(flow) if "groups" in part or "syncs" in part]
