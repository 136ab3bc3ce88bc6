"""Finds AWS credentials: of a role, of a profile, or by AWS's default chain.

Environment variables are read directly; all else needs botocore, from the extra `aws`.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import Any

from heliograph.errors import LoginFailed
from heliograph.security import AwsIam, Secret

#: A role's credentials are renewed so long before they expire.
_MARGIN_SECONDS = 300.0
_SESSION_NAME = "heliograph"

_lock = threading.Lock()
_sessions: dict[str | None, Any] = {}
_roles: dict[tuple[AwsIam, str], tuple[AwsCredentials, float]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsCredentials:
    access_key: str
    secret_key: Secret
    session_token: Secret | None = None


def find_credentials(iam: AwsIam, region: str) -> AwsCredentials:
    """Raises LoginFailed."""
    if iam.profile is None and iam.role_arn is None and "AWS_ACCESS_KEY_ID" in os.environ:
        return _from_environment()
    with _lock:
        return _from_botocore(iam, region)


def _from_environment() -> AwsCredentials:
    secret = os.environ.get("AWS_SECRET_ACCESS_KEY")
    if not secret:
        raise LoginFailed(
            "AWS_MSK_IAM: AWS_ACCESS_KEY_ID is in the environment, but not AWS_SECRET_ACCESS_KEY"
        )
    token = os.environ.get("AWS_SESSION_TOKEN")
    return AwsCredentials(
        access_key=os.environ["AWS_ACCESS_KEY_ID"],
        secret_key=Secret(secret),
        session_token=Secret(token) if token else None,
    )


def _from_botocore(iam: AwsIam, region: str) -> AwsCredentials:
    try:
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.session import Session
    except ImportError:
        raise LoginFailed(
            "AWS_MSK_IAM: profiles, roles and instance credentials need botocore; install "
            "heliograph[aws]"
        ) from None
    try:
        session = _sessions.get(iam.profile)
        if session is None:
            session = _sessions[iam.profile] = Session(profile=iam.profile)
        if iam.role_arn is not None:
            return _of_role(session, iam, region)
        found = session.get_credentials()
        if found is None:
            raise LoginFailed(
                "AWS_MSK_IAM: AWS's default chain finds no credentials on this machine"
            )
        return _credentials(*found.get_frozen_credentials()[:3])
    except (BotoCoreError, ClientError) as e:
        raise LoginFailed(f"AWS_MSK_IAM: no credentials: {e}") from e


def _of_role(session: Any, iam: AwsIam, region: str) -> AwsCredentials:
    known = _roles.get((iam, region))
    if known is not None and known[1] - _MARGIN_SECONDS > time.time():
        return known[0]
    asked = {"RoleArn": iam.role_arn, "RoleSessionName": iam.role_session_name or _SESSION_NAME}
    if iam.role_external_id is not None:
        asked["ExternalId"] = iam.role_external_id
    client = session.create_client("sts", region_name=iam.sts_region or region)
    answer = client.assume_role(**asked)["Credentials"]
    found = _credentials(answer["AccessKeyId"], answer["SecretAccessKey"], answer["SessionToken"])
    _roles[iam, region] = (found, answer["Expiration"].timestamp())
    return found


def _credentials(access_key: str, secret_key: str, token: str | None) -> AwsCredentials:
    return AwsCredentials(
        access_key=access_key,
        secret_key=Secret(secret_key),
        session_token=Secret(token) if token else None,
    )
