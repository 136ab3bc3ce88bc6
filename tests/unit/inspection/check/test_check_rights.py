from __future__ import annotations

from heliograph.client.admin.authorized_operations import Authorized, operations
from heliograph.errors import BrokerError
from heliograph.inspection.check.report import Outcome, RightCheck
from heliograph.inspection.check.rights import Observed, right_check
from heliograph.model import ClientKind, ClusterConfig
from heliograph.plan.rights import Names, Need, Resource
from heliograph.security import Password, Sasl, Secret, Security
from heliograph.wire.acls import AclOperation
from heliograph.wire.error_codes import ErrorCode

READ, WRITE, CREATE = AclOperation.READ, AclOperation.WRITE, AclOperation.CREATE
ALICE = Security(
    sasl=Sasl(mechanism="PLAIN", credentials=Password(username="alice", password=Secret("hush")))
)
CLUSTER = ClusterConfig(alias="us", bootstrap_servers=("us1:9092",), security=ALICE)


def need(*wanted: AclOperation, name: str | Names = "orders", **more: object) -> Need:
    fields: dict[str, object] = {"resource": Resource.TOPIC, "purpose": "records"} | more
    return Need(
        alias="us",
        client=ClientKind.ADMIN,
        name=name,
        operations=wanted,
        **fields,  # type: ignore[arg-type]
    )


def judged(what: Need, *names: str, refused: int = 0, **found: object) -> RightCheck:
    errors = {
        name: BrokerError("topic", refused, "REFUSED", "", retriable=False)
        for name in names
        if refused
    }
    observed = Observed(authorized=Authorized(**found), refused=errors)  # type: ignore[arg-type]
    return right_check(what, names, observed, CLUSTER)


def test_operations_that_a_newer_broker_knows_are_left_out() -> None:
    assert operations({READ, WRITE, 99}) == {READ, WRITE}
    assert operations(None) == frozenset()


def test_a_right_that_is_there_is_ok() -> None:
    assert judged(need(READ), "orders", topics={"orders": {READ}}).outcome is Outcome.OK


def test_a_missing_right_fails_with_the_command_that_grants_it() -> None:
    found = judged(need(READ, WRITE), "orders", topics={"orders": {READ}})
    assert (found.outcome, found.detail) == (Outcome.FAILED, "no right to WRITE: orders")
    assert found.remedy == (
        "kafka-acls.sh --bootstrap-server us1:9092 --add --allow-principal User:alice "
        "--operation Write --topic orders"
    )


def test_a_setting_that_makes_the_right_unnecessary_is_named() -> None:
    acls = need(
        AclOperation.ALTER,
        name="kafka-cluster",
        resource=Resource.CLUSTER,
        setting="sync.topic.acls.enabled=false",
    )
    found = judged(acls, "kafka-cluster", cluster=frozenset())
    assert found.remedy.endswith(
        "--operation Alter --cluster; or set sync.topic.acls.enabled=false"
    )


def test_a_right_that_the_flow_can_do_without_is_a_warning() -> None:
    group = need(READ, name="us-mm2", resource=Resource.GROUP, without="the flow runs")
    found = judged(group, "us-mm2", groups={"us-mm2": frozenset()})
    assert (found.outcome, found.detail) == (
        Outcome.WARNING,
        "no right to READ: us-mm2; the flow runs",
    )


def test_a_topic_that_exists_need_not_be_created() -> None:
    found = judged(need(CREATE, READ), "orders", topics={"orders": {READ}})
    assert found.outcome is Outcome.OK


def test_a_missing_topic_may_be_created_or_not() -> None:
    may = judged(need(CREATE, READ), "orders", missing=frozenset({"orders"}))
    assert (may.outcome, may.detail) == (Outcome.OK, "may be created: orders")

    forbidden = judged(
        need(CREATE, READ),
        "orders",
        refused=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        missing=frozenset({"orders"}),
    )
    assert forbidden.outcome is Outcome.FAILED
    assert "--operation Create --topic orders; or create the topics in advance" in forbidden.remedy

    too_many = judged(
        need(CREATE, READ),
        "orders",
        refused=ErrorCode.INVALID_REPLICATION_FACTOR,
        missing=frozenset({"orders"}),
    )
    assert "replication factors" in too_many.remedy


def test_rights_on_a_topic_that_does_not_exist_yet_are_as_the_broker_tells() -> None:
    missing = frozenset({"orders"})
    untold = judged(need(WRITE), "orders", missing=missing)
    assert untold.outcome is Outcome.UNKNOWN
    assert "before the topic exists: orders" in untold.detail

    assert (
        judged(need(WRITE), "orders", missing=missing, topics={"orders": {WRITE}}).outcome == "ok"
    )
    forbidden = judged(need(WRITE), "orders", missing=missing, topics={"orders": {READ}})
    assert forbidden.outcome is Outcome.FAILED


def test_a_mirrored_topic_that_is_named_must_exist() -> None:
    found = judged(need(READ, name=Names.TOPICS), "topik", missing=frozenset({"topik"}))
    assert (found.outcome, found.detail) == (Outcome.FAILED, "no such topic: topik")


def test_a_pattern_that_matches_no_visible_topic_fails() -> None:
    found = judged(need(READ, name=Names.TOPICS))
    assert found.outcome is Outcome.FAILED
    assert "correct topics, or grant DESCRIBE" in found.remedy
