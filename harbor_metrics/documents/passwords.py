"""Where passwords lie by the word of a variable: by those of known programs, and by their names."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from functools import cache
from typing import Literal

from ..confinement.homes import is_of_system
from ..confinement.places import OF_PROGRAMS
from .paths import real_path, real_paths

_Kind = Literal["known", "settings", "place", "word"]
# Of programs that everybody has, and that call them otherwise or have more in the place.
_KNOWN = frozenset(
    (
        *("NETRC", "UV_CREDENTIALS_DIR", "SSL_CLIENT_CERT", "GIT_CONFIG_GLOBAL", "PIP_CONFIG_FILE"),
        *("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE"),
        *("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GHA_CREDS_PATH", "CLOUDSDK_CONFIG"),
        *("AZURE_CONFIG_DIR", "KUBECONFIG", "DOCKER_CONFIG", "HF_TOKEN_PATH", "HF_HOME"),
        *("GH_CONFIG_DIR", "KAGGLE_CONFIG_DIR", "MODAL_CONFIG_PATH", "WANDB_CONFIG_DIR"),
        *("CARGO_HOME", "GNUPGHOME", "PGPASSFILE", "NPM_CONFIG_USERCONFIG", "REGISTRY_AUTH_FILE"),
        *("RCLONE_CONFIG", "KRB5CCNAME", "KRB5_KTNAME", "POETRY_CONFIG_DIR", "BOTO_CONFIG"),
        *("OCI_CLI_CONFIG_FILE", "GIT_CONFIG_SYSTEM"),
        # Private packages and repositories are in caches.
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "UV_CACHE_DIR"),
    )
)
# A name ends so, and says perhaps that it is a place: TOKEN_FILE, but not TOKEN_COUNTS.
_ENDS = (
    *("PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PASSFILE", "SECRET", "SECRETS", "TOKEN"),
    *("TOKENS", "CREDENTIAL", "CREDENTIALS", "CREDS", "NETRC", "XAUTHORITY", "APIKEY", "APIKEYS"),
    *("KEYRING", "KEYTAB", "KEYSTORE", "KEYFILE", "CERTFILE"),
)
_ENDS_OF_SETTINGS = ("CONFIG", "CONFIGFILE", "CONFIGDIR", "PROFILES")
_WORDS = frozenset(
    (
        *("PASS", "PW", "CRED", "AUTH", "KEY", "KEYS", "CERT", "CERTS", "LOGIN", "LOGINS"),
        *("IDENTITY", "ACCESS", "COOKIE", "COOKIES", "COOKIEFILE"),
    )
)
_OF_PLACES = frozenset(
    (
        *("FILE", "FILENAME", "PATH", "DIR", "DIRECTORY", "FOLDER", "HOME", "ROOT", "LOCATION"),
        *("STORE", "SOCK", "JSON", "YAML", "TOML", "INI", "PEM", "OVERRIDE", "GLOBAL", "SYSTEM"),
        "USER",
    )
)
# Certificates of authorities, which everybody may read, and what programs are run and built with.
_HARMLESS_BEGINNINGS = ("PYTHON", "COVERAGE", "HARBOR_METRICS_", "NPM_CONFIG_")
_HARMLESS_PARTS = (
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "PIP_CERT", "_CA_", "OPENSSL_CONF", "FONTCONFIG"),
    "PKG_CONFIG",
)
# Programs, and certificates of authorities.
_OF_SYSTEM = (
    *(f"{above}/{part}/" for above in ("", "/usr", "/usr/local") for part in OF_PROGRAMS),
    *("/nix/", "/etc/ssl/certs/", "/etc/pki/tls/certs/", "/etc/pki/ca-trust/"),
    *("/etc/ca-certificates/", "/etc/fonts/"),
)
_BEFORE_A_PATH = ("FILE:", "DIR:", "file://")
# What programs call these in a folder of theirs.
_NAMES = (
    *("token", "stored_tokens", "credentials", "credentials.toml", "credentials.json"),
    *("kaggle.json", "access_tokens.db", "application_default_credentials.json", "hosts.yml"),
    *("uv/credentials", "git/credentials", "gh/hosts.yml", "gcloud", "keyrings"),
    *("python_keyring", "pypoetry", "huggingface/token", "huggingface/stored_tokens"),
)


def places_of_passwords(handed_on: Collection[str] = (), *, settings: bool = True) -> set[str]:
    """The real paths of files and folders that variables name, and that hold passwords.

    Where only the name of a variable says so, it does not count when it is `handed_on`: who hands
    it to a program wants it to read what lies there. Nor do those of `settings` perhaps, which can
    be a program's own and a part of it. In a folder that every system has, credentials
    are what is called so.
    """
    paths: set[str] = set()
    for name in os.environ:
        if (kind := _kind(name)) is not None and (settings or kind != "settings"):
            paths.update(_named(kind, name in handed_on, os.environ[name]))
    found = set(real_paths(map(os.path.abspath, paths)))
    inside = [os.path.join(each, name) for each in filter(is_of_system, found) for name in _NAMES]
    return found | {real_path(path) for path in inside if os.path.lexists(path)}


def _named(kind: _Kind, is_handed_on: bool, value: str) -> Iterator[str]:
    """The paths that a variable of such a kind names."""
    if kind != "known" and (is_handed_on or (kind == "word" and "/" not in value)):
        return
    for path in _paths(value):
        if kind == "known" or not f"{os.path.abspath(path)}/".startswith(_OF_SYSTEM):
            yield path


def _paths(value: str) -> set[str]:
    for before in _BEFORE_A_PATH:
        value = value.removeprefix(before)
    # Some name several, and one can have the same sign in it; some who read it expand `~`, or
    # variables.
    paths = {path for path in (value, *value.split(os.pathsep)) if path}
    paths |= {os.path.expandvars(path) for path in paths if "$" in path}
    return paths | {os.path.expanduser(path) for path in paths if path[:1] == "~"}


@cache
def _kind(name: str) -> _Kind | None:
    """Of which kind a variable of passwords is by its name; of none most are."""
    name = name.upper()
    if name in _KNOWN:
        return "known"
    parts = name.split("_")
    while parts and parts[-1] in _OF_PLACES:
        parts.pop()
    word = parts[-1] if parts else ""
    of_settings = word == "CONF" or word.endswith(_ENDS_OF_SETTINGS)
    if not of_settings and word not in _WORDS and not word.endswith(_ENDS):
        return None
    if name.startswith(_HARMLESS_BEGINNINGS) or any(each in f"_{name}" for each in _HARMLESS_PARTS):
        return None
    if of_settings:
        return "settings"
    return "word" if name.endswith(word) else "place"
