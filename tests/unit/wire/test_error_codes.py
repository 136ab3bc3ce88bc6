"""The error codes have Kafka's names and numbers."""

from __future__ import annotations

import kafka.errors
import pytest

from heliograph.wire.error_codes import ErrorCode

#: Where kafka-python has an older name than Java's `Errors`.
_OLDER_NAMES = {
    ErrorCode.UNKNOWN_SERVER_ERROR: "UNKNOWN",
    ErrorCode.NOT_LEADER_OR_FOLLOWER: "NOT_LEADER_FOR_PARTITION",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "INVALID_TOPIC",
}


@pytest.mark.parametrize("code", ErrorCode)
def test_a_code_has_kafkas_number(code: ErrorCode) -> None:
    assert kafka.errors.for_code(int(code)).message == _OLDER_NAMES.get(code, code.name)


def test_a_code_is_written_as_its_number() -> None:
    """Problems and logs show it so."""
    assert f"{ErrorCode.NOT_COORDINATOR}" == "16"
