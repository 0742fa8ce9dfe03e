"""Who may call: OAuth 2.1 by the SDK's authorization-server provider, with a consent page and a password step-up.

Rules
- A client registers itself, is sent to the consent page, and comes back with a code (PKCE is the SDK's to check).
- Reading asks for the password once. Writing asks for it again, on a page of its own that says what is given.
- Codes, requests and tokens are used once, expire, and are kept as digests only.
- People and tokens live in memory here; a farm in earnest keeps them where it keeps its people.
"""

import hashlib
import hmac
import html
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from mcp.server import MCPServer
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

READ, WRITE = "farm:read", "daily-entries:write"
SCOPES = (READ, WRITE)
MEANS = {READ: "read the farm's records", WRITE: "record daily entries in your name"}
REQUEST_LIVES, CODE_LIVES, TOKEN_LIVES, REFRESH_LIVES = 600, 60, 3600, 30 * 24 * 3600  # seconds

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>body{{font:1rem/1.5 system-ui;max-width:28rem;margin:4rem auto;padding:0 1rem}}
input{{font:inherit;width:100%;margin:.2rem 0 1rem;padding:.4rem;box-sizing:border-box}}
button{{font:inherit;padding:.4rem 1rem}}
.wrong{{color:#a00}}</style><h1>{title}</h1>{body}</html>"""


@dataclass(frozen=True)
class Person:
    """Someone who works on the farm."""

    name: str
    roles: tuple[str, ...]
    salt: bytes
    digest: bytes

    @classmethod
    def of(cls, name: str, password: str, *roles: str) -> "Person":
        """A person with this password."""
        salt = secrets.token_bytes(16)
        return cls(name, roles, salt, _slow_digest(password, salt))

    def has(self, password: str) -> bool:
        """Whether this is the person's password."""
        return hmac.compare_digest(self.digest, _slow_digest(password, self.salt))


@dataclass
class Asked:
    """A request for consent that is open."""

    client: OAuthClientInformationFull
    params: AuthorizationParams
    expires: float
    person: Person | None = None  # who has signed in


@dataclass
class FarmAuth(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """The farm's authorization server."""

    base: str
    people: dict[str, Person]
    clients: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    asked: dict[str, Asked] = field(default_factory=dict)
    codes: dict[str, AuthorizationCode] = field(default_factory=dict)
    access: dict[str, AccessToken] = field(default_factory=dict)
    refresh: dict[str, RefreshToken] = field(default_factory=dict)

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """A client that has registered."""
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Take in a client."""
        self.clients[str(client_info.client_id)] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """Where the person at the client is asked for consent."""
        self._forget_expired()
        request = secrets.token_urlsafe(32)
        self.asked[request] = Asked(client, params, time.time() + REQUEST_LIVES)
        return f"{self.base}/consent?request={request}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        """A code that was given to this client and not used."""
        code = self.codes.get(_digest(authorization_code))
        return code if code is not None and code.client_id == client.client_id else None

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        """Tokens for a code, once."""
        if self.codes.pop(_digest(authorization_code.code), None) is None:
            raise TokenError("invalid_grant", "the code has been used")
        return self._tokens(client, authorization_code)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        """A refresh token that was given to this client and not used."""
        token = self.refresh.get(_digest(refresh_token))
        return token if token is not None and token.client_id == client.client_id else None

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """New tokens for a refresh token, once, for no more than it was given for."""
        if not set(scopes) <= set(refresh_token.scopes):
            raise TokenError("invalid_scope", "a refresh token gives no more than it was given for")
        if self.refresh.pop(_digest(refresh_token.token), None) is None:
            raise TokenError("invalid_grant", "the refresh token has been used")
        return self._tokens(client, refresh_token.model_copy(update={"scopes": scopes or refresh_token.scopes}))

    async def load_access_token(self, token: str) -> AccessToken | None:
        """A token that counts, with what its person may do."""
        found = self.access.get(_digest(token))
        if found is None or (found.expires_at is not None and found.expires_at < time.time()):
            return None
        return found.model_copy(update={"token": token})

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """Forget a token."""
        self.access.pop(_digest(token.token), None)
        self.refresh.pop(_digest(token.token), None)

    # -- the pages ------------------------------------------------------------------------------------

    async def consent(self, request: Request) -> Response:
        """Ask who it is, and for writing once more; then back to the client with a code, or without."""
        sent: dict[str, Any] = {}
        if request.method == "POST":
            async with request.form() as form:
                sent = {name: value for name, value in form.items() if isinstance(value, str)}
        key = str(sent.get("request") or request.query_params.get("request", ""))
        asked = self.asked.get(key)
        if asked is None or asked.expires < time.time():
            return _page("This request has expired", "<p>Go back to your client and connect again.</p>", status=400)
        if "deny" in sent:
            return self._back(key, asked, error="access_denied")
        if "reading" in sent and asked.person:
            return self._allow(key, asked, asked.person, [READ])
        if "password" not in sent:
            return _sign_in(key, asked)
        person = asked.person or self.people.get(str(sent.get("person", "")).casefold())
        if person is None or not person.has(sent["password"]):
            return (_step_up if asked.person else _sign_in)(key, asked, wrong=True)
        if asked.person is None and WRITE in _scopes(asked):
            asked.person = person
            return _step_up(key, asked)
        return self._allow(key, asked, person, _scopes(asked))

    def _allow(self, key: str, asked: Asked, person: Person, scopes: list[str]) -> Response:
        code = secrets.token_urlsafe(32)
        self.codes[_digest(code)] = AuthorizationCode(
            code=code,
            scopes=scopes,
            expires_at=time.time() + CODE_LIVES,
            client_id=str(asked.client.client_id),
            code_challenge=asked.params.code_challenge,
            redirect_uri=asked.params.redirect_uri,
            redirect_uri_provided_explicitly=asked.params.redirect_uri_provided_explicitly,
            resource=asked.params.resource,
            subject=person.name,
        )
        return self._back(key, asked, code=code)

    def _back(self, key: str, asked: Asked, **said: str) -> Response:
        del self.asked[key]
        issuer = str(AnyHttpUrl(self.base))  # as the metadata has it, which clients compare
        url = construct_redirect_uri(str(asked.params.redirect_uri), state=asked.params.state, iss=issuer, **said)
        return RedirectResponse(url, status_code=303, headers={"Cache-Control": "no-store"})

    # -- tokens ---------------------------------------------------------------------------------------

    def _tokens(self, client: OAuthClientInformationFull, grant: AuthorizationCode | RefreshToken) -> OAuthToken:
        self._forget_expired()
        now = int(time.time())
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        person = self.people[str(grant.subject).casefold()]
        shared = {
            "client_id": str(client.client_id),
            "scopes": grant.scopes,
            "resource": grant.resource,
            "subject": person.name,
        }
        self.access[_digest(access)] = AccessToken(
            token="", expires_at=now + TOKEN_LIVES, claims={"roles": list(person.roles)}, **shared
        )
        self.refresh[_digest(refresh)] = RefreshToken(token=refresh, expires_at=now + REFRESH_LIVES, **shared)
        return OAuthToken(
            access_token=access, expires_in=TOKEN_LIVES, refresh_token=refresh, scope=" ".join(grant.scopes)
        )

    def _forget_expired(self) -> None:
        now = time.time()
        self.asked = {key: one for key, one in self.asked.items() if one.expires > now}
        self.codes = {key: one for key, one in self.codes.items() if one.expires_at > now}
        self.access = {key: one for key, one in self.access.items() if (one.expires_at or now) >= now}
        self.refresh = {key: one for key, one in self.refresh.items() if (one.expires_at or now) >= now}


def add_consent(server: MCPServer[Any], auth: FarmAuth) -> None:
    """Put the consent page beside the server's other routes."""
    server.custom_route("/consent", methods=["GET", "POST"])(auth.consent)


def _scopes(asked: Asked) -> list[str]:
    return asked.params.scopes or [READ]


def _sign_in(key: str, asked: Asked, *, wrong: bool = False) -> Response:
    client = html.escape(asked.client.client_name or "A client")
    wants = "".join(f"<li>{html.escape(MEANS.get(scope, scope))}</li>" for scope in _scopes(asked))
    body = (
        f"<p>{client} would like to:</p><ul>{wants}</ul>{_wrong(wrong)}<form method=post>{_hidden(key)}"
        "<label>Your name<input name=person autocomplete=username autofocus></label>"
        "<label>Password<input name=password type=password autocomplete=current-password></label>"
        "<button>Allow</button> <button name=deny value=1>Deny</button></form>"
    )
    return _page("Egg farm: allow access?", body, status=403 if wrong else 200)


def _step_up(key: str, asked: Asked, *, wrong: bool = False) -> Response:
    body = (
        f"<p>This client will be able to <b>{html.escape(MEANS[WRITE])}</b>. To allow that, give your password once "
        f"more.</p>{_wrong(wrong)}<form method=post>{_hidden(key)}"
        "<label>Password<input name=password type=password autocomplete=current-password autofocus></label>"
        "<button>Allow writing</button> <button name=reading value=1>Only reading</button> "
        "<button name=deny value=1>Deny</button></form>"
    )
    return _page("Egg farm: allow writing?", body, status=403 if wrong else 200)


def _hidden(key: str) -> str:
    return f'<input type=hidden name=request value="{html.escape(key)}">'


def _wrong(wrong: bool) -> str:  # noqa: FBT001 - the page says it or does not
    return '<p class="wrong">Name and password do not go together.</p>' if wrong else ""


def _page(title: str, body: str, *, status: int = 200) -> Response:
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
    }
    return HTMLResponse(PAGE.format(title=title, body=body), status_code=status, headers=headers)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _slow_digest(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)
