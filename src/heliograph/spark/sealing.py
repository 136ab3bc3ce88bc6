"""What only our own tasks can read of the rows that Spark carries, keeps and may show.

The key travels with the function that runs in a task, never in a row: whoever sees rows (a plan, a debug log,
a spilled block) sees no password.
"""

from __future__ import annotations

import pickle
from typing import Any

from cryptography.fernet import Fernet

from heliograph.security import Secret


def new_key() -> Secret:
    return Secret(Fernet.generate_key().decode())


def seal(key: Secret, value: Any) -> str:
    """Any value that can be pickled, as a text."""
    return Fernet(key).encrypt(pickle.dumps(value)).decode()


def unseal(key: Secret, text: str) -> Any:
    """Nothing is unpickled that was not sealed with this key: cryptography's InvalidToken otherwise."""
    return pickle.loads(Fernet(key).decrypt(text))
