"""Which variables say that passwords lie somewhere, and where they do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harbor_metrics.documents.passwords import places_of_passwords


@pytest.fixture(autouse=True)
def nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None but HOME, and a folder to stand in."""
    for name in list(os.environ):
        if name not in ("PATH", "TMPDIR", "PYTEST_CURRENT_TEST"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        *("NETRC", "KUBECONFIG", "HF_HOME", "FSSPEC_CONFIG_DIR", "AWS_CREDENTIAL_FILE"),
        *("CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", "AZURE_FEDERATED_TOKEN_FILE"),
        *("DOCKER_CERT_PATH", "DBT_PROFILES_DIR", "DATABRICKS_CONFIG_FILE", "UV_CONFIG_FILE"),
        *("ANSIBLE_VAULT_PASSWORD_FILE", "OPENAI_API_KEY_PATH", "GIT_CONFIG_SYSTEM"),
        *("SNOWFLAKE_PRIVATE_KEY_FILE", "TF_VAR_db_password", "SSH_AUTH_SOCK", "MYSQL_PASS_FILE"),
        *("npm_config_userconfig", "SERVICE_ACCOUNT_KEY_JSON", "GITHUB_TOKEN", "APP_SECRETS"),
        *("STEP_CA_PASSWORD_FILE", "MY_CA_KEY_FILE", "FABRIC_CA_SERVER_TLS_KEYFILE"),
        *("PYTHON_API_TOKEN_FILE", "NPM_CONFIG_TOKEN_FILE", "COVERAGE_TOKEN_FILE", "DB_PWFILE"),
        *("TOKEN_FILE_PROD", "PASSWORD_FILE_2", "API_TOKENFILE", "PGPASS_FILE", "SECRETS_FILES"),
        *("GH_TOKEN_TXT", "SECRET_KEY_BASE_FILE", "PIP_CERT_KEY_FILE", "PASSWORD_STORE_DIR"),
        *("XAUTHORITY", "GIT_SSL_CERT", "JUPYTER_CONFIG_DIR", "REMOTE_LOGIN", "HTTP_COOKIE_FILE"),
    ],
)
def test_a_variable_that_speaks_of_secrets_names_their_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "secret"
    place.write_text("")
    monkeypatch.setenv(name, str(place))
    assert str(place) in places_of_passwords()


@pytest.mark.parametrize(
    "name",
    [
        *(
            "PATH",
            "PYTHONPATH",
            "PYTHON_KEYRING_BACKEND",
            "VIRTUAL_ENV",
            "PWD",
            "OLDPWD",
            "HOME",
            "TMPDIR",
        ),
        *("COVERAGE_FILE", "COVERAGE_PROCESS_CONFIG", "HARBOR_METRICS_TRIALS", "GITHUB_WORKSPACE"),
        *("HARBOR_METRICS_CONFIG", "TOKEN_COUNTS", "KEY_METRICS_FILE", "PASS_RATE_DIR", "COMPASS"),
        *("TOKENIZER_PATH", "MONKEY", "SSL_CERT_FILE", "NIX_SSL_CERT_FILE", "SSL_CERT_DIR"),
        *("NODE_EXTRA_CA_CERTS", "PIP_CERT", "OPENSSL_CONF", "FONTCONFIG_FILE", "PKG_CONFIG_PATH"),
        *("npm_config_local_prefix", "npm_config_globalconfig", "XDG_CONFIG_DIRS", "AUTHOR"),
        *("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "CONDA_PREFIX", "INIT_CWD", "FILE", "PATH_DIR"),
    ],
)
def test_a_variable_that_does_not_names_none(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("")
    monkeypatch.setenv(name, f"{tmp_path}/secret")
    assert places_of_passwords() == set()


def test_settings_that_can_be_a_part_of_a_program_are_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.py").write_text("")
    monkeypatch.setenv("APP_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("GUNICORN_CONFIG", str(tmp_path / "config" / "settings.py"))
    assert places_of_passwords() == set()
    monkeypatch.setenv("FSSPEC_CONFIG_DIR", str(tmp_path / "config"))
    assert places_of_passwords() == {f"{tmp_path}/config"}


@pytest.mark.parametrize(
    ("value", "place"),
    [
        *((f"{sign}/a/secret", "a/secret") for sign in ("~", "$HOME", "${HOME}")),
        *((f"{sign}{{0}}/secret", "secret") for sign in ("FILE:", "DIR:", "file://", "/etc/x:")),
        *(("secret", "secret"), ("./a/../secret", "secret"), ("{0}/with:colon", "with:colon")),
    ],
)
@pytest.mark.parametrize(
    "name", ["NETRC", "APP_TOKEN_FILE", "AGE_KEYFILE", "APP_CERTFILE", "MY_KEYTAB", "A_KEYSTORE"]
)
def test_places_are_read_as_who_reads_the_variable_does(
    name: str, value: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value.replace("{0}", str(tmp_path)))
    assert f"{tmp_path}/{place}" in places_of_passwords()


@pytest.mark.parametrize("name", ["NETRC", "APP_TOKEN_FILE"])
@pytest.mark.parametrize("above", ["", "{0}/"])
def test_from_a_link_one_goes_up_to_where_it_leads(
    name: str, above: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs" / "7" / "out").mkdir(parents=True)
    (tmp_path / "latest").symlink_to("runs/7/out")
    monkeypatch.setenv(name, f"{above.format(tmp_path)}latest/../../token")
    assert places_of_passwords() == {f"{tmp_path}/runs/token"}


def test_a_secret_itself_is_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the folder `data` would be one for who partitions by it."""
    monkeypatch.setenv("PARTITION_KEY", "data")
    assert places_of_passwords() == set()


@pytest.mark.parametrize(
    "place",
    [
        *("/usr/bin/askpass", "/usr/lib/x/key", "/usr/lib", "/nix/store/x/config"),
        *("/etc/ssl/certs/ca.crt", "/etc/fonts/fonts.conf"),
    ],
)
def test_where_programs_lie_no_name_of_a_variable_hides_them(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PG_CONFIG", place)
    assert places_of_passwords() == set()
    monkeypatch.setenv("NETRC", place)
    assert places_of_passwords() == {os.path.realpath(place)}


def test_what_is_handed_on_is_to_be_read_unless_its_variable_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "eval.yaml").write_text("")
    monkeypatch.setenv("EVAL_CONFIG", f"{tmp_path}/eval.yaml")
    monkeypatch.setenv("NETRC", f"{tmp_path}/netrc")
    assert places_of_passwords(["EVAL_CONFIG", "NETRC"]) == {f"{tmp_path}/netrc"}


def test_in_a_folder_that_every_system_has_credentials_are_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("token", "uv/credentials/x", "zoneinfo/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.setattr(
        "harbor_metrics.documents.passwords.is_of_system", lambda path: path == str(tmp_path)
    )
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert places_of_passwords() == {
        str(tmp_path),
        f"{tmp_path}/token",
        f"{tmp_path}/uv/credentials",
    }
