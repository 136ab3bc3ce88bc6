"""Secrets go to executors only where Spark authenticates and encrypts, or the user has accepted it."""

from __future__ import annotations

import pytest

from heliograph.plan.spark.protection import Protection, protection, refusal, warning

_MASTER = "spark://head:7077"
_AUTH, _CRYPTO, _RPC = (
    "spark.authenticate",
    "spark.network.crypto.enabled",
    "spark.ssl.rpc.enabled",
)


def of(*on: str, master: str = _MASTER) -> Protection:
    return protection(master, dict.fromkeys(on, " True").get)


@pytest.mark.parametrize(
    "master", [_MASTER, "yarn", "k8s://https://api", "local-cluster[2,1,1024]"]
)
@pytest.mark.parametrize(
    ("on", "expected", "found"),
    [
        (
            (),
            "expected spark.authenticate=true and spark.network.crypto.enabled=true "
            "(or spark.ssl.rpc.enabled=true), since",
            "found no authentication and no encryption; set",
        ),
        (
            (_AUTH,),
            "expected spark.network.crypto.enabled=true (or spark.ssl.rpc.enabled=true), since",
            "found no encryption; set",
        ),
        ((_RPC,), "expected spark.authenticate=true, since", "found no authentication; set"),
    ],
)
def test_a_spark_cluster_that_lacks_either_is_refused(
    master: str, on: tuple[str, ...], expected: str, found: str
) -> None:
    said = refusal("us->eu", of(*on, master=master), accepted=False)

    assert said is not None
    assert said.startswith(f"flow us->eu: Spark at {master}: expected")
    assert expected in said
    assert found in said
    assert "spark.unencrypted.secrets.policy=accept" in said


@pytest.mark.parametrize("encrypts", [_CRYPTO, _RPC])
def test_one_that_authenticates_and_encrypts_is_not(encrypts: str) -> None:
    assert refusal("us->eu", of(_AUTH, encrypts), accepted=False) is None


@pytest.mark.parametrize("master", ["local", "local[*]", "local[4]"])
def test_nothing_leaves_the_machine_with_a_local_master(master: str) -> None:
    assert refusal("us->eu", of(master=master), accepted=False) is None


def test_what_the_user_accepts_is_not_refused_and_the_warning_says_what_is_missing() -> None:
    assert refusal("us->eu", of(_AUTH), accepted=True) is None
    assert warning(of(_AUTH)) == (
        "Spark at spark://head:7077: passwords and keys of the clusters go to its executors, and there is no "
        "encryption, as spark.unencrypted.secrets.policy=accept permits; better set "
        "spark.network.crypto.enabled=true (or spark.ssl.rpc.enabled=true) (docs/security.md)"
    )


def test_only_the_loss_of_enough_protection_is_weaker() -> None:
    full, half, none = of(_AUTH, _CRYPTO), of(_AUTH), of()

    assert half.weaker_than(full)
    assert not none.weaker_than(half)
    assert not of(_AUTH, _RPC).weaker_than(full)
