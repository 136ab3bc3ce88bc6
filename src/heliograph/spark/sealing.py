"""Encrypts the secrets in the rows that Spark transports and stores, so that only our tasks can read them.

The key is part of the function that runs in a task and never in a row: rows in a plan, a debug log or a
spilled block show no password.
"""

from __future__ import annotations

import pickle
from typing import Any

from cryptography.fernet import Fernet

from heliograph.security import Secret


def new_key() -> Secret:
    return Secret(Fernet.generate_key().decode())


def seal(key: Secret, value: Any) -> str:
    """Encrypts any value that can be pickled."""
    return Fernet(key).encrypt(pickle.dumps(value)).decode()


def unseal(key: Secret, text: str) -> Any:
    """Raises cryptography's InvalidToken, before unpickling, if the text was not sealed with this key."""
    return pickle.loads(Fernet(key).decrypt(text))
