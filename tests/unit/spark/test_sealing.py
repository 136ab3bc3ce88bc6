from __future__ import annotations

import base64
import pickle

import pytest
from cryptography.fernet import InvalidToken

from heliograph.security import Secret
from heliograph.spark.sealing import new_key, seal, unseal


def test_only_the_key_opens_a_sealed_secret() -> None:
    key = new_key()
    value = ("a->b", Secret("canary"))

    sealed = seal(key, value)

    assert unseal(key, sealed) == value
    raw = base64.urlsafe_b64decode(sealed)
    assert b"canary" not in raw
    assert "canary" not in sealed
    with pytest.raises(InvalidToken):
        unseal(new_key(), sealed)
    assert str(key) not in repr(key)


def test_nothing_is_unpickled_that_we_have_not_sealed() -> None:
    forged = base64.urlsafe_b64encode(pickle.dumps("anything")).decode()

    with pytest.raises(InvalidToken):
        unseal(new_key(), forged)
