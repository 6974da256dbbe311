"""The commands that fix a machine on which the jail does not work, by cause."""

from __future__ import annotations

from pathlib import Path

_APPARMOR = (
    "Ubuntu lets only programs with an AppArmor profile make user namespaces; give bubblewrap one: "
    "printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) "
    "{\\n  userns,\\n}\\n' | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap"
)
_CONTAINER = (
    "start the container with: --security-opt seccomp=docker/seccomp-worker.json --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined (docker-compose.yml does)"
)


def for_failure(said: str) -> str:
    """Returns the remedy when bubblewrap failed to set a jail up with the message ``said``."""
    if _number("/proc/sys/kernel/unprivileged_userns_clone") == 0:
        return "sudo sysctl -w kernel.unprivileged_userns_clone=1"
    if _number("/proc/sys/user/max_user_namespaces") == 0:
        return "sudo sysctl -w user.max_user_namespaces=15000"
    if in_container():
        return _CONTAINER
    if _number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1:
        return _APPARMOR
    if "namespace" in said or "uid map" in said or "Operation not permitted" in said:
        return "user namespaces are refused to bubblewrap here: see the operators' guide on the jail, and dmesg"
    return "see what bubblewrap said, and the operators' guide on the jail"


def for_cgroups() -> str:
    """Returns the remedy when a cgroup controller is missing."""
    if in_container():
        return (
            "an ordinary container cannot make cgroups: bound it as a whole (--memory, --pids-limit; "
            "docker-compose.yml does), or run the workers outside of containers"
        )
    return (
        "run the workers as a systemd service with Delegate=yes "
        "(systemd-run --user --scope -p Delegate=yes gpujudge worker), or as root"
    )


def for_real_time() -> str:
    """Returns the remedy when processes cannot be scheduled in real time."""
    if in_container():
        return "start the container with --ulimit rtprio=1 (docker-compose.yml does)"
    return "run the workers as a systemd service with LimitRTPRIO=1, or set 'rtprio 1' in /etc/security/limits.conf"


def in_container() -> bool:
    """Returns whether this process runs in a container of Docker, Podman or Kubernetes."""
    return any(Path(marker).exists() for marker in ("/.dockerenv", "/run/.containerenv")) or (
        Path("/var/run/secrets/kubernetes.io").exists()
    )


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return None
