from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.formats.load import LoadOptions, load
from heliograph.config.formats.strimzi import parse_strimzi
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import ConfigError
from support.configurations.strimzi_files import SECRETS, V1, V1BETA2, secret


def read(folder: Path, text: str, secrets: str = SECRETS) -> MirrorConfig:
    (folder / "mm2.yaml").write_text(text)
    (folder / "secrets.yml").write_text(secrets)
    return load(folder / "mm2.yaml", LoadOptions(secrets=[folder / "secrets.yml"]), {})


def problems(folder: Path, text: str, secrets: str = SECRETS) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(folder, text, secrets)
    return caught.value.problems


def test_the_shape_of_v1(tmp_path: Path) -> None:
    mirror = read(tmp_path, V1)
    (flow,), (groups,) = mirror.flows, mirror.group_flows
    assert flow.name == flow.connector_name == "us->eu.MirrorSourceConnector"
    assert groups.name == "us->eu.MirrorCheckpointConnector"
    assert (flow.group_id, flow.offsets_topic.name, flow.offsets_topic.replication_factor) == (
        "my-group",
        "my-offsets",
        -1,
    )
    assert (flow.tasks_max, flow.topics, flow.acl_sync_interval_seconds) == (3, ("orders.*",), None)
    assert flow.limits.request_bytes == 2_000_000
    assert flow.config_topic is not None
    assert flow.status_topic is not None
    assert (flow.config_topic.name, flow.status_topic.name) == ("my-configs", "my-status")
    assert groups.checkpoints is not None
    assert groups.checkpoints.groups == ("app-.*",)
    assert groups.checkpoints.sync_interval_seconds == 60
    assert mirror.warnings == ()


def test_logins_come_from_secrets(tmp_path: Path) -> None:
    mirror = read(tmp_path, V1)
    us, eu = mirror.cluster("us").security, mirror.cluster("eu").security
    assert eu.tls is not None
    assert eu.tls.truststore is not None
    assert (
        str(eu.tls.truststore.certificates) == "EU ONE\nEU TWO"
    )  # in the order of the keys' names
    assert eu.sasl is not None
    assert eu.sasl.mechanism == "SCRAM-SHA-512"
    assert us.sasl is None
    assert us.tls is not None
    assert us.tls.keystore is not None
    assert str(us.tls.keystore.key) == "KEY"
    assert mirror.cluster("eu").by_client == ()  # the worker's producer logs in the same way


def test_the_shape_of_v1beta2(tmp_path: Path) -> None:
    mirror = read(tmp_path, V1BETA2)
    (flow,), (beats,) = mirror.flows, mirror.heartbeats
    assert flow.group_id == "other"
    assert flow.offsets_topic.name == "mirrormaker2-cluster-offsets"
    assert flow.topics_exclude == ("private.*",)
    assert beats.name == "us->eu.MirrorHeartbeatConnector"
    assert mirror.group_flows == ()
    assert mirror.warnings == (
        "spec.mirrors[0].topicsBlacklistPattern: old name, read as topicsExcludePattern (mm2.yaml:24)",
        "connector us->eu.MirrorCheckpointConnector: does not run, since its state is PAUSED",
    )


@pytest.mark.parametrize(
    ("authentication", "settings"),
    [
        (
            "type: plain\n      username: token\n      passwordSecret: {secretName: s, password: p}",
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
                'username="token" password="${strimzisecrets:s:p}";',
            },
        ),
        (
            "type: oauth\n      clientId: me\n      tokenEndpointUri: https://sso\n"
            "      clientSecret: {secretName: s, key: k}\n      scope: all",
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.jaas.config": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule "
                'required oauth.client.id="me" oauth.token.endpoint.uri="https://sso" oauth.scope="all" '
                'oauth.client.secret="${strimzisecrets:s:k}";',
                "sasl.login.callback.handler.class": "io.strimzi.kafka.oauth.client."
                "JaasClientOauthLoginCallbackHandler",
            },
        ),
        (
            "type: custom\n      sasl: true\n      config: {sasl.mechanism: AWS_MSK_IAM, ssl.protocol: x}",
            {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "AWS_MSK_IAM"},
        ),
    ],
)
def test_every_authentication_in_kafkas_own_settings(
    authentication: str, settings: dict[str, str]
) -> None:
    text = V1BETA2.replace(
        "bootstrapServers: us1:9092\n",
        f"bootstrapServers: us1:9092\n      authentication:\n      {authentication}\n".replace(
            "\n      ", "\n        "
        ),
        1,
    ).replace("\n        authentication", "\n      authentication")
    config = parse_strimzi(text, "mm2.yaml").connectors[0].config
    found = {
        name.removeprefix("source.cluster."): v
        for name, v in config.items()
        if "source.cluster." in name
    }
    assert {n: v for n, v in found.items() if n not in ("alias", "bootstrap.servers")} == settings


def test_secrets_as_folders_as_a_pod_mounts_them(tmp_path: Path) -> None:
    (tmp_path / "mm2.yaml").write_text(V1)
    for name, files in {
        "eu-ca": {"ca.crt": "EU"},
        "eu-user": {"password": "s3cret\n"},
        "us-ca": {"ca.crt": "US"},
        "us-user": {"user.crt": "CHAIN", "user.key": "KEY"},
    }.items():
        (tmp_path / "secrets" / name).mkdir(parents=True)
        for key, text in files.items():
            (tmp_path / "secrets" / name / key).write_text(text)
    all_in_one = load(tmp_path / "mm2.yaml", LoadOptions(secrets=[tmp_path / "secrets"]), {})
    one_by_one = load(
        tmp_path / "mm2.yaml", LoadOptions(secrets=sorted((tmp_path / "secrets").iterdir())), {}
    )
    assert all_in_one == one_by_one
    sasl = all_in_one.cluster("eu").security.sasl
    assert sasl is not None
    assert sasl.credentials.password == "s3cret"  # type: ignore[union-attr]


def test_secrets_may_stand_in_the_same_file_or_in_a_list(tmp_path: Path) -> None:
    listed = "kind: List\nitems:\n" + "".join(
        f"- {each.strip()}\n".replace("\n", "\n  ").rstrip() + "\n"
        for each in SECRETS.split("---\n")
    )
    assert read(tmp_path, V1 + "---\n" + SECRETS, "") == read(tmp_path, V1, listed)


@pytest.mark.parametrize(
    ("secrets", "told"),
    [
        ("", "the Secret 'eu-user' was not given; export it (kubectl get secret eu-user -o yaml)"),
        (
            secret("eu-user", binding="x"),
            "the Secret 'eu-user' has no key 'password'; its keys are: binding",
        ),
    ],
)
def test_a_secret_that_is_missing_is_named_with_its_key(
    tmp_path: Path, secrets: str, told: str
) -> None:
    """Scenario rule 11"""
    others = "---\n".join(each for each in SECRETS.split("---\n") if "eu-user" not in each)
    found = problems(tmp_path, V1, f"{others}---\n{secrets}")
    assert any(told in each and "mm2.yaml:17" in each for each in found)
    assert not any("s3cret" in each for each in found)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("alias: us\n", "alias: eu\n"),
         "spec.mirrors[0].source.alias: The target and source cluster aliases must be unique. (mm2.yaml:25)"),
        (("    bootstrapServers: eu1:9093\n", ""), "spec.target.bootstrapServers: missing (mm2.yaml:7)"),
        (("type: scram-sha-512", "type: kerberos"),
         "spec.target.authentication.type: expected tls, plain, scram-sha-256, scram-sha-512, oauth, custom, "
         "found 'kerberos' (mm2.yaml:18)"),
        (("state: running", "state: asleep"),
         "spec.mirrors[0].checkpointConnector.state: expected running, paused, stopped, found 'asleep' "
         "(mm2.yaml:40)"),
        (("tasksMax: 3", "tasksMax: [3]"),
         "spec.mirrors[0].sourceConnector.tasksMax: expected text, a number, true or false, found a list "
         "(mm2.yaml:35)"),
        (("tasksMax: 3", "tasksMax: -3"),
         "tasks.max: expected a whole number of at least 1, found '-3' (mm2.yaml:35)"),
        (("kind: KafkaMirrorMaker2", "kind: KafkaMirrorMaker"),
         "mm2.yaml: expected one resource of kind KafkaMirrorMaker2, found none; found KafkaMirrorMaker"),
        (("spec:\n", "spec: [\n"), "mm2.yaml:6: not YAML: "),
        (("      topicsPattern", "      topicPattern"),
         "spec.mirrors[0].topicPattern: refused, since without it topics would be mirrored that you did not "
         "choose: unknown field; did you mean topicsPattern? (mm2.yaml:"),
        (("          replication.factor: -1", "          topic: x"),
         "topic: refused, since without it topics would be mirrored that you did not choose"),
    ],
)  # fmt: skip
def test_a_problem_is_reported_with_its_path_and_line(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    assert change[0] in V1
    assert any(each.startswith(told) for each in problems(tmp_path, V1.replace(*change)))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("sourceCluster: us", "sourceCluster: asia"), "is set to an non-existent alias"),
        (
            ("targetCluster: eu", "targetCluster: us"),
            "is not the same as the actual target cluster alias",
        ),
        (
            ("  connectCluster: eu\n", ""),
            "Either .spec.target or .spec.connectCluster and .spec.clusters",
        ),
    ],
)
def test_what_strimzi_refuses_of_v1beta2_is_refused_in_its_words(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    (found,) = problems(tmp_path, V1BETA2.replace(*change))
    assert told in found


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("  replicas: 2", "  replica: 2"), "spec.replica: unknown field, ignored; did you mean replicas?"),
        (("      topicsPattern", "      targetConnector: {}\n      topicsPattern"),
         "spec.mirrors[0].targetConnector: unknown field, ignored"),
        (("  replicas: 2", "  replicas: 2\n  jvmOptions: {}"),
         "without effect outside of Kubernetes: spec.jvmOptions"),
        (("          replication.factor: -1", "          name: x"),
         "sourceConnector.config.name: has no effect: Strimzi ignores it"),
        (("      producer.max.request.size: 2000000", "      ssl.truststore.location: /x"),
         "spec.target.config.ssl.truststore.location: has no effect: Strimzi ignores it"),
        (("      sourceConnector:\n        tasksMax: 3\n        config:\n          replication.factor: -1\n"
          '          sync.topic.acls.enabled: "false"\n', ""),
         "spec.mirrors[0].sourceConnector: missing, so no records are mirrored, as with Strimzi"),
    ],
)  # fmt: skip
def test_what_has_no_effect_is_named(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    assert change[0] in V1
    assert any(told in each for each in read(tmp_path, V1.replace(*change)).warnings)


def test_a_setting_without_a_value_is_not_set(tmp_path: Path) -> None:
    given = V1.replace("          sync.group.", "          groups:\n          sync.group.")
    given = given.replace('groupsPattern: "app-.*"', "groupsPattern:")
    given = given.replace("    configStorageTopic: my-configs", "    configStorageTopic:")
    mirror = read(tmp_path, given.replace("producer.max.request.size: 2000000", "client.id:"))

    (flow,) = mirror.group_flows
    assert flow.checkpoints is not None
    assert flow.checkpoints.groups == (".*",)
    assert flow.group_filter().accepts("app")
    assert [each.partition(" (")[0] for each in mirror.warnings] == [
        "spec.target.config.client.id: has no value, so that its default applies",
        "spec.mirrors[0].checkpointConnector.config.groups: has no value, so that its default applies",
    ]


def test_a_connect_cluster_that_is_none_is_the_target_with_a_warning(tmp_path: Path) -> None:
    """Scenario rule 9"""
    mirror = read(tmp_path, V1BETA2.replace("connectCluster: eu", "connectCluster: mm2-cluster"))
    assert mirror.cluster("eu").bootstrap_servers == ("eu1:9092",)
    assert (
        "connectCluster with alias mm2-cluster cannot be found in the list of clusters at .spec.clusters"
        in (mirror.warnings[0])
    )


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "\t",
        "&a [*a]",
        "a: b: c",
        "? [x]\n: y",
        "\x00",
        "- 1",
        "kind: KafkaMirrorMaker2",
        "[" * 5000,
    ],
)
def test_what_is_no_resource_is_refused(tmp_path: Path, text: str) -> None:
    (told,) = problems(tmp_path, text)
    assert "mm2.yaml" in told
