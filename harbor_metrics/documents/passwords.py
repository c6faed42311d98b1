"""Where passwords lie by the word of a variable: by those of known programs, and by their names."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from functools import cache
from itertools import pairwise
from typing import Literal

from ..confinement.homes import is_of_system
from ..confinement.places import OF_PROGRAMS
from .paths import is_code, real_path, real_paths

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
        *("OCI_CLI_CONFIG_FILE", "GIT_CONFIG_SYSTEM", "FSSPEC_CONFIG_DIR", "JUPYTER_CONFIG_DIR"),
        *("DBT_PROFILES_DIR", "HELM_CONFIG_HOME"),
        # Private packages and repositories are in caches.
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "UV_CACHE_DIR"),
    )
)
_PLACE = "FILE|FILES|FILENAME|PATH|DIR|DIRECTORY|FOLDER"
# A part of a name that speaks of secrets, of certificates, of settings: TOKEN, or TOKENFILE.
_SECRET = re.compile(
    r"(?:\w*(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIAL|CRED|NETRC|XAUTHORITY|APIKEY|"
    r"KEYRING|KEYTAB|KEYSTORE|KEYFILE|PASSFILE)S?|PASS|PW|PGPASS|AUTH|KEYS?|LOGINS?|IDENTITY|"
    rf"ACCESS|COOKIES?)(?:{_PLACE})?S?"
)
_CERTIFICATE = re.compile(rf"CERTS?(?:{_PLACE})?S?")
_SETTINGS = re.compile(rf"\w*CONFIG(?:{_PLACE})?S?|CONF|\w*PROFILES")
_ENDS_OF_PLACES = (*_PLACE.split("|"), "NETRC", "KEYTAB", "STORE", "XAUTHORITY")
# What follows it, and says that it is a place: TOKEN_FILE, TOKEN_FILE_2, but not TOKEN_COUNTS.
_OF_PLACES = frozenset(
    (
        *(*_ENDS_OF_PLACES, "HOME", "ROOT", "LOCATION", "TXT", "KEY"),
        *("SOCK", "JSON", "YAML", "TOML", "INI", "PEM", "OVERRIDE", "GLOBAL", "SYSTEM"),
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


def places_of_passwords(handed_on: Collection[str] = ()) -> set[str]:
    """The real paths of files and folders that variables name, and that hold passwords.

    Where only the name of a variable says so, it does not count when it is `handed_on`: who hands
    it to a program wants it to read what lies there. Of settings a file counts that is no code: a
    folder, or a module, can be a part of the program itself. In a folder that every system has,
    credentials are what is called so.
    """
    named: dict[_Kind, set[str]] = {"known": set(), "settings": set(), "place": set()}
    for name in os.environ:
        kind = _kind(name)
        if kind is None or (kind != "known" and name in handed_on):
            continue
        if kind == "word":
            if "/" not in os.environ[name]:
                continue  # a password itself
            kind = "place"
        named[kind] |= _paths(name)
    known, settings, called = (set(real_paths(named[k])) for k in ("known", "settings", "place"))
    called |= {path for path in settings if os.path.isfile(path) and not is_code(path)}
    found = known | {path for path in called if not f"{path}/".startswith(_OF_SYSTEM)}
    inside = [os.path.join(each, name) for each in filter(is_of_system, found) for name in _NAMES]
    return found | {real_path(path) for path in inside if os.path.lexists(path)}


def _paths(name: str) -> set[str]:
    """The paths that a variable names, none a relative one."""
    value = os.environ[name]
    for before in _BEFORE_A_PATH:
        value = value.removeprefix(before)
    # Some name several, and one can have the same sign in it; some who read it expand `~`, or
    # variables.
    paths = {path for path in (value, *value.split(os.pathsep)) if path}
    paths |= {os.path.expandvars(path) for path in paths if "$" in path}
    paths |= {os.path.expanduser(path) for path in paths if path[:1] == "~"}
    # `..` stays, which goes up from where a link before it leads.
    return {os.path.join(_here(), path) for path in paths}


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "/"  # it is gone, and what lay in it


@cache
def _kind(name: str) -> _Kind | None:
    """Of which kind a variable of passwords is by its name; of none most are."""
    name = name.upper()
    if name in _KNOWN:
        return "known"
    if kind := _spoken_of(name, _SECRET):
        return kind
    if name.startswith(_HARMLESS_BEGINNINGS) or any(each in f"_{name}" for each in _HARMLESS_PARTS):
        return None
    if kind := _spoken_of(name, _CERTIFICATE):
        return kind
    return "settings" if _spoken_of(name, _SETTINGS) else None


def _spoken_of(name: str, what: re.Pattern[str]) -> Literal["place", "word"] | None:
    """Whether a name ends with such a part, or has one before what says that it is a place."""
    parts = name.split("_")
    if any(what.fullmatch(part) and after in _OF_PLACES for part, after in pairwise(parts)):
        return "place"
    if not what.fullmatch(parts[-1]):
        return None
    return "place" if parts[-1].endswith(_ENDS_OF_PLACES) else "word"
