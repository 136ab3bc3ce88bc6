"""Old names such as `topics.blacklist`: Kafka 4.0 removed them, users' files still have them."""

from __future__ import annotations

from support.configurations.mm2_files import BASE, Reader


def test_blacklists_are_read_as_exclusions_with_a_warning(mm2: Reader) -> None:
    mirror = mm2(
        BASE + "us->eu.topics.blacklist = a, b\ngroups.blacklist = c\n"
        "config.properties.blacklist = d\n"
    )

    (flow,) = mirror.flows
    assert flow.checkpoints is not None
    assert flow.topics_exclude == ("a", "b")
    assert flow.checkpoints.groups_exclude == ("c",)
    assert flow.config_sync.exclude == ("d",)
    assert not flow.topic_filter().accepts("a")
    assert not flow.group_filter().accepts("c")
    assert not flow.config_property_filter().should_replicate_config_property("d")
    assert mirror.warnings == (
        "us->eu.topics.blacklist: read as us->eu.topics.exclude, its name since Kafka 2.7; rename "
        "it (mm2.properties:5)",
        "groups.blacklist: read as groups.exclude, its name since Kafka 2.7; rename it "
        "(mm2.properties:6)",
        "config.properties.blacklist: read as config.properties.exclude, its name since Kafka 2.7; "
        "rename it (mm2.properties:7)",
    )


def test_the_new_name_wins_over_the_old_one(mm2: Reader) -> None:
    mirror = mm2(BASE + "us->eu.topics.blacklist = old\ntopics.exclude = new\n")

    assert mirror.flows[0].topics_exclude == ("new",)
    assert mirror.warnings == (
        "us->eu.topics.blacklist: has no effect, since topics.exclude (line 6), its name since Kafka 2.7, "
        "is set (mm2.properties:5)",
    )
