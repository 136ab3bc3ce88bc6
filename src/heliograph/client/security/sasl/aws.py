"""AWS_MSK_IAM, and MSK's tokens for OAUTHBEARER: a connect request signed with AWS Signature V4.

As in github.com/aws/aws-msk-iam-auth. The request is never sent to AWS: the broker verifies the signature of
a GET of / with all fields in the query.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import time
from typing import NamedTuple
from urllib.parse import quote, urlencode

from heliograph import __version__
from heliograph.client.security.sasl.aws_credentials import AwsCredentials, find_credentials
from heliograph.errors import LoginFailed
from heliograph.security import AwsIam

_ALGORITHM = "AWS4-HMAC-SHA256"
_SERVICE = "kafka-cluster"
_ACTION = f"{_SERVICE}:Connect"
_SECONDS = 900
_EMPTY = hashlib.sha256(b"").hexdigest()
#: b-1.mine.abc123.c2.kafka.eu-west-1.amazonaws.com, and kafka-serverless
_REGION = re.compile(r"\.kafka(?:-serverless)?\.([a-z]{2}(?:-[a-z]+)+-\d+)\.")


class AwsMskIam:
    def __init__(self, credentials: AwsIam, host: str) -> None:
        self._credentials = credentials
        self._host = host

    def start(self) -> bytes:
        region = region_of(self._host)
        found = find_credentials(self._credentials, region)
        return payload(self._host, region, found, time.time())

    def answer(self, challenge: bytes) -> None:
        """The broker confirms with JSON; it refuses with an error code."""
        if not challenge:
            raise LoginFailed("AWS_MSK_IAM: the broker did not confirm the login")


class SignedQuery(NamedTuple):
    """The query of a signed request, in the order of signing."""

    fields: dict[str, str]
    signature: str


def payload(host: str, region: str, credentials: AwsCredentials, now: float) -> bytes:
    """The client's only message, as JSON."""
    query = sign(host, region, credentials, now)
    signed = {name.lower(): value for name, value in query.fields.items() if name != "Action"}
    message = {
        "version": "2020_10_22",
        "host": host,
        "user-agent": f"heliograph/{__version__}",
        "action": _ACTION,
        **signed,
        "x-amz-signature": query.signature,
    }
    return json.dumps(message, separators=(",", ":")).encode()


def msk_token(iam: AwsIam, host: str) -> str:
    """A token for OAUTHBEARER: the signed address, as MSK's `aws-msk-iam-sasl-signer` creates it."""
    region = region_of(host)
    return signed_token(region, find_credentials(iam, region), time.time())


def signed_token(region: str, credentials: AwsCredentials, now: float) -> str:
    endpoint = f"kafka.{region}.amazonaws.com"
    query = sign(endpoint, region, credentials, now)
    fields = query.fields | {
        "X-Amz-Signature": query.signature,
        "User-Agent": f"heliograph/{__version__}",
    }
    url = f"https://{endpoint}/?{urlencode(fields, quote_via=quote, safe='')}"
    return base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def sign(host: str, region: str, credentials: AwsCredentials, now: float) -> SignedQuery:
    """https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html"""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    scope = f"{moment[:8]}/{region}/{_SERVICE}/aws4_request"
    fields = {
        "Action": _ACTION,
        "X-Amz-Algorithm": _ALGORITHM,
        "X-Amz-Credential": f"{credentials.access_key}/{scope}",
        "X-Amz-Date": moment,
        "X-Amz-Expires": str(_SECONDS),
    }
    if credentials.session_token:
        fields["X-Amz-Security-Token"] = str(credentials.session_token)
    fields["X-Amz-SignedHeaders"] = "host"
    query = urlencode(sorted(fields.items()), quote_via=quote, safe="")
    canonical = f"GET\n/\n{query}\nhost:{host}\n\nhost\n{_EMPTY}"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{credentials.secret_key}".encode()
    for part in (moment[:8], region, _SERVICE, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    to_sign = f"{_ALGORITHM}\n{moment}\n{scope}\n{digest}"
    return SignedQuery(fields, hmac.new(key, to_sign.encode(), "sha256").hexdigest())


def region_of(host: str) -> str:
    """From the broker's name, or, behind a proxy or a private link, from the environment."""
    found = _REGION.search(host)
    region = (
        found[1] if found else os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    )
    if not region:
        raise LoginFailed(
            f"AWS_MSK_IAM: no region in the broker's name {host!r}; set AWS_REGION in the environment"
        )
    return region
