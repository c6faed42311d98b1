"""git, confined to one folder, told of the user what one address needs, and within limits."""

from __future__ import annotations

import os
import shlex
import time
from dataclasses import dataclass, replace

from ..confinement.finished import Finished, ending
from ..confinement.places import LANDLOCK
from ..confinement.workplace import Confinement, Whole, Workplace
from ..documents.paths import real_path
from ..documents.wording import last_lines, printable
from ..errors import MetricFailure
from .bounds import GIB, THREADS
from .git_address import LOCAL, PROTOCOLS, said_by_git
from .git_home import Home
from .uv_access import certificates, programs
from .variables import CERTIFICATES, LOCALE, PROXIES, TO_ALL, told

# For all that git does for a script, and what it may take: its folder is that of a script.
FETCH_SECONDS = 300.0
_WHOLE = Whole(memory=2 * GIB, processes=64, threads=THREADS, bytes=GIB // 2, files=10_000)
_MOST = {
    "memory": f"{_WHOLE.memory >> 20} MiB",
    "processes": f"{_WHOLE.processes}",
    "threads": f"{_WHOLE.threads}",
    "bytes": f"{_WHOLE.bytes >> 20} MiB",
    "files": f"{_WHOLE.files}",
}
_LIMITS = {"RLIMIT_CORE": 1, "RLIMIT_FSIZE": _WHOLE.bytes, "RLIMIT_CPU": int(FETCH_SECONDS)}
_OF_SYSTEM = ("/etc/gitconfig", "/etc/ssh", "/etc/crypto-policies", "/etc/krb5.conf")
_NAMED = ("GIT_CONFIG_GLOBAL", "GIT_SSL_CAINFO")
# git and ssh ask for nothing; what else they need to reach a private repository is the user's.
TO_GIT = (
    # The host would be told of languages.
    *(name for name in TO_ALL if name not in LOCALE),
    *(*CERTIFICATES, *PROXIES, "NO_PROXY", "no_proxy", *_NAMED, "GIT_CONFIG_NOSYSTEM"),
    *("HOME", "USER", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK"),
)
# It asks nothing; and whatever the user has set for all hosts, the server that a registry names is
# lent no agent, display or port of his.
_SSH = " -o".join(
    (
        *("ssh", "BatchMode=yes", "ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes"),
        *("Tunnel=no", "GSSAPIDelegateCredentials=no", "PermitLocalCommand=no", "ControlMaster=no"),
        # The first that is set counts, and there is none but of something.
        "SetEnv=LC_MESSAGES=C",
    )
)
# Nor the name of the account.
_NOBODY = f"-F {os.devnull} -oUser=git -oPubkeyAuthentication=no -oGSSAPIAuthentication=no"
_SETTINGS = (
    *("core.hooksPath=/dev/null", "core.symlinks=false", "core.autocrlf=false"),
    *("core.fsmonitor=false", "core.sparseCheckout=true", "core.sparseCheckoutCone=false"),
    *("submodule.recurse=false", "fetch.recurseSubmodules=false", "gc.auto=0"),
    *("maintenance.auto=false", "advice.detachedHead=false", "init.templateDir="),
    *("transfer.fsckObjects=true", "http.followRedirects=initial", "credential.interactive=never"),
    # What the user sends to all hosts, a token perhaps; what they set for a host stays.
    *("http.extraHeader=", "http.cookieFile=", "http.saveCookies=false", "http.userAgent=git"),
    *("http.delegation=none", "http.emptyAuth=false", "transfer.advertiseSID=false"),
)
# Helpers are asked and never told: else a server that takes, or refuses, a login would have it kept
# or forgotten, that of an address that a registry names, too.
_ASKING = (
    "!f() {{ test $1 = get || exit 0; unset GIT_CONFIG_PARAMETERS; "
    "{git} -c credential.interactive=never credential fill; }}; f"
)


@dataclass(frozen=True, slots=True)
class Git:
    """git, confined to one folder, and within what a folder with a script may take."""

    place: Workplace
    git: str
    url: str
    folder: str
    allow_outside: bool
    deadline: float
    home: Home
    # Whether it goes where the host sends it.
    follows: bool = True

    def __call__(self, arguments: list[str]) -> Finished:
        """Run it.

        Raises:
            MetricFailure: it did not end as it should.
        """
        env = told(TO_GIT) | {
            "GIT_ALLOW_PROTOCOL": ":".join((*PROTOCOLS, *(LOCAL if self.allow_outside else ()))),
            "GIT_TERMINAL_PROMPT": "0",
            # None: an empty answer would be sent, with the user's name.
            "GIT_ASKPASS": "",
            "SSH_ASKPASS": "",
            "GIT_SSH_COMMAND": _SSH,
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_DEFAULT_HASH": "sha1",
            "LC_ALL": "C",
            # A ticket is told to whatever host asks for one, by the name that the host's own
            # entries give its address; a keytab makes new ones.
            "KRB5CCNAME": "MEMORY:none",
            "KRB5_CLIENT_KTNAME": f"FILE:{os.devnull}",
        }
        if self.home.path is not None:
            env["HOME"] = self.home.path
        if self.home.empty:
            env.pop("XDG_CONFIG_HOME", None)
        if self.home.nobodys:
            env.pop("SSH_AUTH_SOCK", None)
            env |= {
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_SSH_COMMAND": f"{_SSH} {_NOBODY}",
            }
        program = os.path.abspath(self.git)
        own = [] if self.follows else ["http.followRedirects=false"]
        asking = _ASKING.format(git=shlex.quote(program))
        # With the path, for the user may have a helper for that alone.
        own += ["credential.useHttpPath=true", "credential.helper=", f"credential.helper={asking}"]
        settings = [part for setting in (*_SETTINGS, *own) for part in ("-c", setting)]
        seconds = max(1.0, self.deadline - time.monotonic())
        done = self.place.run(
            [program, *settings, *arguments],
            env=env,
            cwd=self.place.folder,
            timeout=seconds,
            limits=_LIMITS,
            confinement=self._confinement(),
            whole=replace(_WHOLE, folders=(self.folder,)),
        )
        if done.timed_out or done.exceeded or done.code != 0:
            most = f": more than {_MOST[done.exceeded]}" if done.exceeded in _MOST else ""
            said = said_by_git(done.stderr)
            raise MetricFailure(
                "script-git",
                f"{printable(self.url)} could not be fetched: git {ending(done, FETCH_SECONDS)}"
                f"{most}{self.home.said}",
                said=last_lines(said),
            )
        return done

    def _confinement(self) -> Confinement:
        local = self.url.removeprefix("file://")
        return Confinement(
            layers=(LANDLOCK,),
            filtered=False,
            network=True,
            readable=(
                *(os.path.dirname(os.path.dirname(real_path(self.git))), *programs()),
                *(*certificates(), *self.home.readable()),
                *told(_NAMED).values(),
                *(() if self.home.nobodys else _OF_SYSTEM),
                *([local] if self.allow_outside and os.path.isabs(local) else []),
            ),
            writable=(self.folder, self.place.folder),
        )
