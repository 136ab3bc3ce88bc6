"""Reads a client's credentials for each SASL mechanism from `sasl.jaas.config` and related settings.

Java finds credentials through login modules and callback handlers, which are classes. The classes of
Kafka, Strimzi and MSK are recognized here by name.
"""

from __future__ import annotations

from collections.abc import Mapping

from heliograph.config.options.values import InvalidValue
from heliograph.config.security.jaas import LoginModule, parse_jaas
from heliograph.config.security.oauthbearer import (
    LOGIN_HANDLER,
    STRIMZI_HANDLER,
    read_token_source,
    short_class,
)
from heliograph.security import JAAS, AwsIam, Credentials, Kerberos, Password

_MSK_OAUTH_HANDLER = "IAMOAuthBearerLoginCallbackHandler"
#: Class names without packages, since Kafka has moved some between versions.
_HANDLERS = {
    LOGIN_HANDLER: frozenset(
        {
            "AbstractLogin$DefaultLoginCallbackHandler",
            "OAuthBearerLoginCallbackHandler",
            "OAuthBearerUnsecuredLoginCallbackHandler",
            STRIMZI_HANDLER,
            _MSK_OAUTH_HANDLER,
        }
    ),
    "sasl.client.callback.handler.class": frozenset(
        {
            "SaslClientCallbackHandler",
            "OAuthBearerSaslClientCallbackHandler",
            "IAMClientCallbackHandler",
        }
    ),
}


def read_credentials(mechanism: str, settings: Mapping[str, str]) -> Credentials:
    """Raises InvalidValue whose text is "<setting>: <sentence>"."""
    for name, known in _HANDLERS.items():
        if short_class(settings, name) not in known | {""}:
            raise InvalidValue(
                f"{name}: expected one of {', '.join(sorted(known))} (other Java classes cannot run here)"
            )
    module = _login_module(mechanism, settings)
    match mechanism:
        case "OAUTHBEARER":
            if short_class(settings, LOGIN_HANDLER) == _MSK_OAUTH_HANDLER:
                return _aws_iam(module)
            return read_token_source(module, settings)
        case "AWS_MSK_IAM":
            return _aws_iam(module)
        case "GSSAPI":
            return _kerberos(module, settings)
        case _:
            return _password(mechanism, module)


def _login_module(mechanism: str, settings: Mapping[str, str]) -> LoginModule:
    text = settings.get(JAAS, "").strip()
    if not text:
        raise InvalidValue(
            f"{JAAS}: missing; expected the login module of {mechanism} and its options"
        )
    try:
        return parse_jaas(text)
    except InvalidValue as invalid:
        raise InvalidValue(f"{JAAS}: not in JAAS format: expected {invalid.expected}") from None


def _password(mechanism: str, module: LoginModule) -> Password:
    for option in ("username", "password"):
        if option not in module.options:
            raise InvalidValue(
                f"{JAAS}: {option} is missing; {mechanism} needs username and password, found the "
                f"options {', '.join(module.options) or 'none'} of {module.short_name}"
            )
    return Password(
        username=str(module.options["username"]),
        password=module.options["password"],
        is_token=module.options.get("tokenauth", "").lower() == "true",
    )


def _aws_iam(module: LoginModule) -> AwsIam:
    """The options of `IAMLoginModule`, in MSK's spelling."""
    given = {name: str(value) for name, value in module.options.items()}
    return AwsIam(
        profile=given.get("awsProfileName"),
        role_arn=given.get("awsRoleArn"),
        role_session_name=given.get("awsRoleSessionName"),
        role_external_id=given.get("awsRoleExternalId"),
        sts_region=given.get("awsStsRegion"),
    )


def _kerberos(module: LoginModule, settings: Mapping[str, str]) -> Kerberos:
    service = settings.get("sasl.kerberos.service.name", "").strip()
    service = service or module.options.get("serviceName", "")
    if not service:
        raise InvalidValue("sasl.kerberos.service.name: missing; it is usually kafka")
    uses_keytab = module.options.get("useKeyTab", "").lower() == "true"
    keytab = module.options.get("keyTab") if uses_keytab else None
    if uses_keytab and not keytab:
        raise InvalidValue(
            f"{JAAS}: keyTab is missing; useKeyTab=true needs the path of the keytab"
        )
    principal = module.options.get("principal")
    return Kerberos(
        service=str(service),
        principal=None if principal is None else str(principal),
        keytab=None if keytab is None else str(keytab),
    )
