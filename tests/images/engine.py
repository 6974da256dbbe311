"""podman, told how it runs on this machine, and the base images, made from Debian's packages.

The base images have the names that the Dockerfile and docker-compose.yml ask for, so no registry is needed. They stand
in for the official ones: the same programs in Debian 12's versions, and start scripts for PostgreSQL and Redis.
"""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

MIRROR = "http://deb.debian.org/debian"
SUITE = "bookworm"
PACKAGES = "ca-certificates,python3,python3-pip,python3-venv,python-is-python3,postgresql,redis-server"
PROGRAMS = ("podman", "podman-compose", "debootstrap", "runc", "iptables", "catatonit")

#: What the official image of PostgreSQL does at its start, as far as docker-compose.yml needs it.
SERVE_POSTGRES = """\
#!/bin/sh
set -eu
data=/var/lib/postgresql/data
install -d -o postgres /var/run/postgresql
chown postgres "$data"
run() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
if [ ! -e "$data/PG_VERSION" ]; then
    printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
    chmod 644 /tmp/password
    run initdb -E UTF8 --locale C.UTF-8 -D "$data" -U "$POSTGRES_USER" --pwfile /tmp/password -A scram-sha-256
    rm /tmp/password
    echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
    echo "CREATE DATABASE $POSTGRES_DB" | run postgres --single -D "$data" postgres
fi
exec setpriv --reuid postgres --regid postgres --clear-groups postgres -D "$data" -h '*' -k /var/run/postgresql
"""
#: The official image's Redis answers other containers, too.
SERVE_REDIS = """\
#!/bin/sh
exec /usr/bin/redis-server "$@" --protected-mode no
"""
#: By name: what its containers run.
BASES = {
    "docker.io/library/python:3.12-slim-bookworm": ["python3"],
    "docker.io/library/postgres:17": ["/usr/local/bin/serve-postgres"],
    "docker.io/library/redis:7": ["redis-server"],
}


class Engine:
    """podman with its images and containers in ``folder``, so that it leaves those of the machine alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        # podman asks for a million open files and four million processes, which a machine may not let it have.
        files, processes = (
            min(wanted, resource.getrlimit(kind)[1]) if resource.getrlimit(kind)[1] > 0 else wanted
            for kind, wanted in ((resource.RLIMIT_NOFILE, 16384), (resource.RLIMIT_NPROC, 16384))
        )
        (folder / "containers.conf").write_text(
            f'[containers]\ndefault_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]\n'
            '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
        )
        (folder / "storage.conf").write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/images"\nrunroot = "{folder}/run"\n'
        )
        self.environment = {
            **os.environ,
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
        }

    def run(self, *arguments: str, cwd: Path | None = None, stdin: str | None = None, timeout_s: float = 600) -> str:
        """Runs ``podman`` and returns its output. Raises RuntimeError with the end of it if it fails."""
        return self.command(["podman", *arguments], cwd=cwd, stdin=stdin, timeout_s=timeout_s)

    def command(
        self, argv: Sequence[str], *, cwd: Path | None = None, stdin: str | None = None, timeout_s: float = 600
    ) -> str:
        """Runs a program that calls podman, such as podman-compose; see ``run``."""
        done = subprocess.run(
            argv,
            cwd=cwd,
            env=self.environment,
            input=stdin or "",
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(argv)[:200]} ended with {done.returncode}:\n{done.stdout[-6000:]}")
        return done.stdout

    def make_bases(self) -> None:
        """Makes the base images that are missing. Takes two minutes the first time."""
        recipe = hashlib.sha256(f"{SUITE} {PACKAGES} {SERVE_POSTGRES} {SERVE_REDIS} {BASES}".encode()).hexdigest()[:16]
        made = f"localhost/gpujudge-base:{recipe}"
        if self.run("images", "--quiet", made).strip():
            return
        root = self._folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        self.command(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root), MIRROR])
        _trust_what_this_machine_trusts(root)
        for name, script in (("serve-postgres", SERVE_POSTGRES), ("redis-server", SERVE_REDIS)):
            start = root / "usr/local/bin" / name
            start.write_text(script)
            start.chmod(0o755)
        archive = self._folder / "root.tar"
        self.command(["tar", "-C", str(root), "-cf", str(archive), "."])
        (version,) = (path.name for path in (root / "usr/lib/postgresql").iterdir())
        path = f"/usr/local/bin:/usr/lib/postgresql/{version}/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        shutil.rmtree(root)
        for name, run in BASES.items():
            settings = [f"ENV PATH={path}", "ENV PIP_BREAK_SYSTEM_PACKAGES=1", f"CMD {_as_json(run)}"]
            changes = [part for one in settings for part in ("--change", one)]
            self.run("import", *changes, str(archive), name)
        archive.unlink()
        self.run("tag", next(iter(BASES)), made)


def _as_json(words: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def _trust_what_this_machine_trusts(root: Path) -> None:
    """Where a proxy opens this machine's HTTPS, the images meet it too."""
    bundle = Path("/etc/ssl/certs/ca-certificates.crt")
    if bundle.exists():
        shutil.copyfile(bundle, root / bundle.relative_to("/"))
    (root / "etc/pip.conf").write_text(f"[global]\ncert = {bundle}\n")
