"""One SASL login of a connection: SaslHandshake, then SaslAuthenticate until the mechanism is done.

Driven by callbacks and never waits, so that a connection in use can log in again (KIP-368) while responses
arrive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from heliograph.client.security.connection_security import ConnectionSecurity
from heliograph.errors import LoginFailed, SecurityFailed
from heliograph.wire import messages
from heliograph.wire.error_codes import ErrorCode

#: Sends a request of kafka-python's; its decoded response goes to the callback.
Ask = Callable[[Any, Callable[[Any], None]], None]


class Login:
    """`lifetime`, in seconds, is set once `done`; 0: the session does not end."""

    def __init__(self, access: ConnectionSecurity, host: str, address: str, ask: Ask) -> None:
        sasl = access.security.sasl
        assert sasl is not None
        self.done = False
        self.lifetime = 0.0
        self._security = access.security
        self._name = sasl.mechanism
        self._address = f"{access.prefix}{address}"
        self._ask = ask
        self._mechanism = self._explained(lambda: access.mechanism(host))

    def start(self) -> None:
        # The first message may have to wait for a token endpoint; the handshake is sent after that.
        first = self._explained(self._mechanism.start)
        handshake = messages.SaslHandshakeRequest(mechanism=self._name, version=1)
        self._ask(handshake, lambda response: self._shaken(response, first))

    def _shaken(self, response: Any, first: bytes) -> None:
        if response.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
            raise LoginFailed(
                f"{self._address}: {self._security.key('sasl.mechanism')}: expected one of "
                f"{', '.join(response.mechanisms)}, which the broker offers, found {self._name}"
            )
        if response.error_code == ErrorCode.ILLEGAL_SASL_STATE:
            raise LoginFailed(
                f"{self._address}: this listener accepts no login; check "
                f"{self._security.key('security.protocol')} and the port"
            )
        if response.error_code:
            raise messages.broker_error(response.error_code, f"{self._address}: SaslHandshake")
        self._say(first)

    def _say(self, word: bytes) -> None:
        request = messages.SaslAuthenticateRequest(auth_bytes=word, max_version=2)
        self._ask(request, self._answered)

    def _answered(self, response: Any) -> None:
        if response.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED:
            raise LoginFailed(self._refusal(response.error_message or "no reason given"))
        if response.error_code:
            subject = f"{self._address}: SaslAuthenticate"
            raise messages.broker_error(response.error_code, subject, response.error_message)
        challenge = bytes(response.auth_bytes or b"")
        word = self._explained(lambda: self._mechanism.answer(challenge))
        if word is not None:
            self._say(word)
            return
        self.lifetime = max(getattr(response, "session_lifetime_ms", 0) or 0, 0) / 1000
        self.done = True

    def _refusal(self, reason: str) -> str:
        setting = self._security.key("sasl.jaas.config")
        return f"{self._address}: {setting}: the broker refuses the login by {self._name}: {reason}"

    def _explained(self, action: Callable[[], Any]) -> Any:
        """Run `action`; an error of the mechanism gets the broker and the setting as its subject."""
        try:
            return action()
        except SecurityFailed as e:
            setting = self._security.key("sasl.jaas.config")
            raise type(e)(f"{self._address}: {setting}: {e}") from e
