"""A real Kerberos KDC (MIT's, as Debian packs it) for tests; `make kerberos` brings it along."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

from support.waiting import PATIENCE_SECONDS, eventually

REALM = "HELIO.TEST"


class Kdc:
    """Serves its realm from `start` on. `config` is what clients and brokers find it by."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.config = folder / "krb5.conf"
        self._environment = os.environ | {
            "KRB5_CONFIG": str(self.config),
            "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
        }
        self._process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def is_here() -> bool:
        return shutil.which("krb5kdc") is not None

    def start(self) -> None:
        modules = os.environ.get("KRB5_KDB_MODULES")
        self.config.write_text(
            f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n rdns = false\n"
            " dns_canonicalize_hostname = false\n udp_preference_limit = 1\n"
            f"[realms]\n {REALM} = {{\n  kdc = 127.0.0.1:{self._port}\n }}\n"
        )
        (self._folder / "kdc.conf").write_text(
            f"[kdcdefaults]\n kdc_ports = {self._port}\n kdc_tcp_ports = {self._port}\n"
            f"[realms]\n {REALM} = {{\n  database_name = {self._folder}/principal\n"
            f"  key_stash_file = {self._folder}/stash\n  max_life = 1h\n }}\n"
            + (f"[dbmodules]\n db_module_dir = {modules}\n" if modules else "")
        )
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "of the database")
        self._process = subprocess.Popen(["krb5kdc", "-n"], env=self._environment)
        eventually(self._answers, bool)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE_SECONDS)

    def keytab(self, principal: str) -> Path:
        """A new principal's."""
        path = self._folder / f"{principal.partition('/')[0]}.keytab"
        self._run("kadmin.local", "-q", f"addprinc -randkey {principal}")
        self._run("kadmin.local", "-q", f"ktadd -k {path} {principal}")
        return path

    def take_ticket(self, principal: str, keytab: Path, cache: Path) -> None:
        self._run("kinit", "-k", "-t", str(keytab), "-c", str(cache), principal)

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0
