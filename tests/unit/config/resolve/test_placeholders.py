"""Values that come from elsewhere: `config.providers` (KIP-297, KIP-421, KIP-887) and templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.resolve.providers import (
    AllowedPaths,
    DirectoryProvider,
    EnvironmentProvider,
    FileProvider,
    Unavailable,
)
from heliograph.policy.java_regex import JavaPattern
from support.configurations.mm2_files import BASE, Reader

SECRET = "hunter2"
PROVIDERS = """\
config.providers = file, dir, env
config.providers.file.class = org.apache.kafka.common.config.provider.FileConfigProvider
config.providers.dir.class = org.apache.kafka.common.config.provider.DirectoryConfigProvider
config.providers.env.class = EnvVarConfigProvider
"""
ANYWHERE = AllowedPaths(None)


@pytest.fixture
def access(tmp_path: Path) -> Path:
    path = tmp_path / "access.properties"
    path.write_text("SRC_BROKERS=h1:9092, h2:9092\nTOPICS = a.*\nBAD = a(\nKEY=ö\n", "utf-8")
    return path


def test_placeholders_are_filled_in_everywhere(mm2: Reader, access: Path, tmp_path: Path) -> None:
    """MirrorMakerConfigTest.testWorkerConfigs, .testLazyConfigResolution: connectors' settings, too"""
    (tmp_path / "factor").write_text("5\n")
    mirror = mm2(
        f"clusters = ${{env:ALIASES}}\nus.bootstrap.servers = ${{file:{access}:SRC_BROKERS}}\n"
        "eu.bootstrap.servers = ${env:HOST}:${env:PORT}\n"
        f"us->eu.topics = ${{file:{access}:TOPICS}}, b\n"
        f"offset.storage.replication.factor = ${{dir:{tmp_path}:factor}}\n"
        f"us->eu.enabled = true\n{PROVIDERS}",
        environment={"ALIASES": "us, eu", "HOST": "eu1", "PORT": "9093"},
    )

    assert mirror.cluster("us").bootstrap_servers == ("h1:9092", "h2:9092")
    assert mirror.cluster("eu").bootstrap_servers == ("eu1:9093",)
    assert mirror.flows[0].topics == ("a.*", "b")
    assert mirror.flows[0].offsets_topic.replication_factor == 5
    assert mirror.warnings == ()


def test_text_that_was_filled_in_is_not_filled_in_again_and_a_bare_dollar_stays(
    mm2: Reader,
) -> None:
    mirror = mm2(
        f"{BASE}{PROVIDERS}us.client.id = $ConnectionString-${{env:A}}\n",
        environment={"A": "${env:B}", "B": "no", "ConnectionString": "no"},
    )

    assert ("client.id", "$ConnectionString-${env:B}") in mirror.cluster("us").properties


def test_a_template_is_filled_in_from_the_environment_with_a_warning(mm2: Reader) -> None:
    """Scenario D0: the file of the local scenario, as a script would fill it in before MM2 starts."""
    text = BASE.replace("us1:9092, us2:9092", "${KAFKA_SOURCE_BROKERS}")

    mirror = mm2(text, environment={"KAFKA_SOURCE_BROKERS": "kafka1:9092,kafka2:9093"})

    assert mirror.cluster("us").bootstrap_servers == ("kafka1:9092", "kafka2:9093")
    assert mirror.warnings == (
        "mm2.properties: filled in from the environment, which MM2 does not do: "
        "${KAFKA_SOURCE_BROKERS} (line 2)",
    )
    assert mm2.problems(text) == [
        "us.bootstrap.servers: ${KAFKA_SOURCE_BROKERS}: the environment variable "
        "KAFKA_SOURCE_BROKERS is not set (mm2.properties:2)"
    ]


@pytest.mark.parametrize(
    ("placeholder", "why"),
    [
        ("${file:/none.properties:KEY}", "/none.properties: no such file"),
        ("${file:ACCESS:NONE}", "ACCESS has no key NONE"),
        ("${file:KEY}", "expected a path before the key, as in ${file:/path:key}"),
        ("${dir:/none:KEY}", "/none: no such directory"),
        ("${dir:FOLDER:none}", "FOLDER has no file none"),
        ("${dir:FOLDER:../passwd}", "FOLDER has no file ../passwd"),
        ("${dir:file}", "expected a path before the file's name, as in ${directory:/path:file}"),
        ("${env:NONE}", "the environment variable NONE is not set"),
        ("${env:/path:NONE}", "expected ${env:VARIABLE}, found a path before the variable"),
        ("${NONE}", "the environment variable NONE is not set"),
        (
            "${vault:/path:key}",
            "config provider 'vault' is not declared (config.providers has file, dir, env); write "
            "config.providers = file, dir, env, vault and config.providers.vault.class = …",
        ),
    ],
)
def test_a_placeholder_that_cannot_be_filled_in_is_one_error_with_its_line(
    mm2: Reader, access: Path, placeholder: str, why: str
) -> None:
    names = (("ACCESS", str(access)), ("FOLDER", str(access.parent)))
    for name, path in names:
        placeholder, why = placeholder.replace(name, path), why.replace(name, path)

    found = mm2.problems(BASE.replace("eu1:9092", f"{placeholder}:9092") + PROVIDERS)

    assert found == [f"eu.bootstrap.servers: {placeholder}: {why} (mm2.properties:3)"]


def test_a_provider_that_was_not_declared_is_an_error_with_a_remedy(mm2: Reader) -> None:
    assert mm2.problems(BASE + "us->eu.topics = ${env:TOPICS}\n") == [
        "us->eu.topics: ${env:TOPICS}: config provider 'env' is not declared (no config.providers); "
        "write config.providers = env and config.providers.env.class = EnvVarConfigProvider "
        "(mm2.properties:5)"
    ]


def test_an_unusable_provider_is_reported_once_not_for_each_placeholder(mm2: Reader) -> None:
    found = mm2.problems(
        BASE + "topics = ${v:a:b}\ngroups = ${w:a:b}\nconfig.providers = v, w\n"
        "config.providers.v.class = com.acme.VaultConfigProvider\n"
    )

    assert found == [
        "config.providers.v.class: expected FileConfigProvider, DirectoryConfigProvider or "
        "EnvVarConfigProvider, found 'com.acme.VaultConfigProvider' (mm2.properties:8)",
        "config.providers.w.class: missing in mm2.properties; expected FileConfigProvider, "
        "DirectoryConfigProvider or EnvVarConfigProvider",
    ]


def test_paths_and_variables_may_be_restricted(mm2: Reader, access: Path, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    found = mm2.problems(
        f"{BASE}{PROVIDERS}config.providers.file.param.allowed.paths = {allowed}\n"
        "config.providers.env.param.allowlist.pattern = MM2_.*\n"
        f"topics = ${{file:{access}:TOPICS}}\ngroups = ${{env:HOME}}\n",
        environment={"HOME": "x"},
    )

    assert found == [
        f"topics: ${{file:{access}:TOPICS}}: {access} is not below {allowed}, the provider's "
        "allowed.paths (mm2.properties:11)",
        "groups: ${env:HOME}: HOME does not match the provider's allowlist.pattern (mm2.properties:12)",
    ]


def test_bad_restrictions_are_errors(mm2: Reader) -> None:
    found = mm2.problems(
        f"{BASE}{PROVIDERS}config.providers.file.param.allowed.paths = relative\n"
        "config.providers.env.param.allowlist.pattern = (\n"
        "config.providers.file.param.allowed.paths.x = ${env:Y}\n"
    )

    assert found == [
        "config.providers.file.param.allowed.paths: expected absolute paths that exist, found "
        "'relative' (mm2.properties:9)",
        "config.providers.env.param.allowlist.pattern: '(' is not a regular expression, at "
        "character 2 (mm2.properties:10)",
        "config.providers.file.param.allowed.paths.x: ${env:Y}: settings of config providers "
        "cannot use config providers (mm2.properties:11)",
    ]


def test_settings_of_providers_that_are_not_declared_have_no_effect(mm2: Reader) -> None:
    mirror = mm2(BASE + "config.providers.file.class = FileConfigProvider\n")

    assert mirror.warnings == (
        "config.providers.file.class: has no effect, since config.providers does not name 'file' "
        "(mm2.properties:5)",
    )


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("us->eu.tasks.max", SECRET, "expected a whole number of at least 1, "
         "found '${env:S}' (mm2.properties:9)"),
        ("us->eu.topics", f"a, {SECRET}(", "item 2 of the value of '${env:S}' is not a regular "
         "expression, at character 9 (mm2.properties:9)"),
        ("us->eu.replication.policy.class", SECRET, "the value of '${env:S}' is not valid "
         "(mm2.properties:9)"),
        ("us->eu.offset-syncs.topic.location", SECRET, "expected source or target, found "
         "'${env:S}' (mm2.properties:9)"),
        ("eu.security.protocol", SECRET, "expected PLAINTEXT or SSL or SASL_PLAINTEXT or SASL_SSL, "
         "found '${env:S}' (mm2.properties:9)"),
        ("us.bootstrap.servers", SECRET, "expected host:port, found '${env:S}' (mm2.properties:9)"),
    ],
)  # fmt: skip
def test_a_bad_value_from_elsewhere_is_never_shown(
    mm2: Reader, key: str, value: str, problem: str
) -> None:
    text = "".join(line for line in BASE.splitlines(True) if not line.startswith(f"{key} "))
    line = len(text.splitlines()) + len(PROVIDERS.splitlines()) + 1

    found = mm2.problems(f"{text}{PROVIDERS}{key} = ${{env:S}}\n", environment={"S": value})

    assert found == [f"{key}: {problem}".replace("properties:9", f"properties:{line}")]


def test_secrets_are_in_no_text_of_a_configuration(mm2: Reader) -> None:
    mirror = mm2(
        BASE + PROVIDERS + "us.client.id = ${env:S}\nus->eu.client.secret = ${env:S}\n",
        environment={"S": SECRET},
    )

    assert ("client.id", SECRET) in mirror.cluster("us").properties
    assert SECRET not in repr(mirror)
    assert SECRET not in str(mirror.warnings)


def test_broken_security_settings_show_neither_value_nor_placeholder(mm2: Reader) -> None:
    found = mm2.problems(
        BASE
        + PROVIDERS
        + "us.security.protocol = SASL_SSL\nus.sasl.mechanism = PLAIN\n"
        + "us.sasl.jaas.config = m.M required password=${env:S}\n",
        environment={"S": SECRET},
    )

    assert found == [
        "us.sasl.jaas.config: not in JAAS format: expected a semicolon at the end (mm2.properties:11)"
    ]
    mechanism = "us.security.protocol = SASL_SSL\nus.sasl.mechanism = ${env:S}\n"
    (found_mechanism,) = mm2.problems(BASE + PROVIDERS + mechanism, environment={"S": SECRET})
    assert found_mechanism.endswith("GSSAPI, found '${env:S}' (mm2.properties:10)")


def test_files_of_a_provider_are_utf_8(access: Path) -> None:
    assert FileProvider(ANYWHERE).get(str(access), "KEY") == "ö"


def test_files_that_cannot_be_read_are_named_and_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "f"
    for content, why in (
        (b"\xff\xfe", f"{path}: expected text in UTF-8, found other bytes"),
        (b"a = \\uhunter2", rf"{path}: expected properties, found \u without four digits"),
    ):
        path.write_bytes(content)
        with pytest.raises(Unavailable) as caught:
            FileProvider(ANYWHERE).get(str(path), "a")
        assert str(caught.value) == why
    with pytest.raises(Unavailable, match="cannot be read: Is a directory"):
        FileProvider(ANYWHERE).get(str(tmp_path), "a")
    for name in ("/a\0b", "/\ud800"):
        with pytest.raises(Unavailable, match="not a valid file name"):
            FileProvider(ANYWHERE).get(name, "a")


def test_allowed_paths_go_by_names_and_see_through_dots(tmp_path: Path) -> None:
    allowed = AllowedPaths((str(tmp_path),))

    assert allowed.check(f"{tmp_path}/a/../b") == tmp_path / "b"
    for outside in (f"{tmp_path}/../b", f"{tmp_path}x/b", "b"):
        with pytest.raises(Unavailable, match=r"is not below .*, the provider's allowed\.paths"):
            allowed.check(outside)


def test_a_directory_gives_the_whole_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hunter2\n")

    assert DirectoryProvider(ANYWHERE).get(str(tmp_path), "password") == "hunter2\n"


def test_an_environment_provider_reads_what_it_may() -> None:
    provider = EnvironmentProvider({"MM2_A": "1", "B": "2"}, JavaPattern("MM2_.*"))

    assert provider.get("", "MM2_A") == "1"
    with pytest.raises(Unavailable):
        provider.get("", "B")
