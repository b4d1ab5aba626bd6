# SPDX-License-Identifier: BSD-3-Clause
"""image/provision.sh on a copy of this machine's file system: an overlay in a mount namespace of its own.

Packages come from a small archive that the test makes; systemctl is a stand-in that writes down what it is
told. Nothing of the real machine is touched.
"""
import hashlib
import pathlib
import subprocess
import textwrap

import pytest
from topo import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
POLICY = "/usr/sbin/policy-rc.d"
ENABLED = "/etc/systemd/system/multi-user.target.wants"

MOUNTS = """
set -e
mount -t tmpfs none {base}
mkdir {base}/up {base}/work {base}/root
mount -t overlay overlay -o lowerdir=/,upperdir={base}/up,workdir={base}/work {base}/root
cd {base}/root
mount --rbind /proc proc
mount --rbind /dev dev
mount -t tmpfs none run
mkdir -p run/systemd/system run/lock weir
mount --bind {project} weir
echo ready
exec sleep 600
"""

POSTINST = """#!/bin/sh
set -e
if deb-systemd-helper --quiet was-enabled {name}.service; then
    deb-systemd-helper enable {name}.service >/dev/null
else
    deb-systemd-helper update-state {name}.service >/dev/null
fi
update-rc.d {name} defaults >/dev/null
{extra}
invoke-rc.d {name} ${{2:+re}}start || true
"""


class Host:
    """The copy. run(text) runs a shell script in it; path(name) is a file of it, as seen from inside."""

    def __init__(self, base):
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c",
             MOUNTS.format(base=base, project=ROOT)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.root = f"{base}/root"
        assert self.holder.stdout.readline() == b"ready\n", self.holder.stderr.read().decode()
        self.run("""
            rm -rf /etc/apt/sources.list* /usr/sbin/policy-rc.d /var/lib/apt/lists /var/lib/weir-provision
            mkdir -p /archive /etc/apt/sources.list.d /var/lib/apt/lists/partial
            echo 'deb [trusted=yes] file:/archive ./' >/etc/apt/sources.list
            rm -f /etc/apt/apt.conf.d/*; touch /systemctl.log
            mv /bin/systemctl /bin/systemctl.real
            cat >/bin/systemctl <<'END'
            #!/bin/sh
            echo "$*" >>/systemctl.log
            case $1 in --root=*) exec systemctl.real "$@" ;; esac
            END
            sed -i 's/^ *//' /bin/systemctl; chmod 755 /bin/systemctl""")

    def command(self, script):
        return ["nsenter", "-m", "-r", "-t", str(self.holder.pid), "chroot", self.root, "bash", "-c",
                "cd /weir\n" + textwrap.dedent(script)]

    def start(self, script):
        return subprocess.Popen(self.command(script), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def run(self, script, check=True):
        process = self.start(script)
        output, _ = process.communicate(timeout=100)
        assert process.returncode == 0 or not check, output
        return output

    def archive(self, *packages):
        """Puts packages (fields of a control file and a postinst's extra line) into the archive."""
        entries = []
        for name, version, depends, extra in packages:
            self.run(f"""
                rm -rf /build; mkdir -p /build/DEBIAN /build/lib/systemd/system /build/etc/init.d
                cat >/build/DEBIAN/control <<'END'
                Package: {name}
                Version: {version}
                Architecture: all
                Maintainer: nobody <nobody@example.org>
                Depends: {depends}
                Description: a service
                END
                sed -i 's/^ *//' /build/DEBIAN/control
                printf '[Service]\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target\\n' \\
                    >/build/lib/systemd/system/{name}.service
                printf '#!/bin/sh\\n### BEGIN INIT INFO\\n# Provides: {name}\\n# Required-Start:\\n# Required-Stop:\\n# Default-Start: 2 3 4 5\\n# Default-Stop: 0 1 6\\n### END INIT INFO\\n' \\
                    >/build/etc/init.d/{name}
                chmod 755 /build/etc/init.d/{name}""")
            script = POSTINST.format(name=name, extra=extra)
            self.run(f"cat >/build/DEBIAN/postinst <<'END'\n{script}END\nchmod 755 /build/DEBIAN/postinst")
            self.run(f"dpkg-deb --build /build /archive/{name}_{version}.deb")
            raw = subprocess.run(self.command(f"cat /archive/{name}_{version}.deb"), capture_output=True).stdout
            control = self.run(f"dpkg-deb -f /archive/{name}_{version}.deb")
            entries.append(f"{control.rstrip()}\nFilename: ./{name}_{version}.deb\nSize: {len(raw)}\n"
                           f"SHA256: {hashlib.sha256(raw).hexdigest()}\n")
        self.run("cat >/archive/Packages <<'END'\n" + "\n".join(entries) + "END\n")

    def systemctl(self):
        return self.run("cat /systemctl.log; : >/systemctl.log")

    def stop(self):
        self.holder.kill()
        self.holder.wait()


PROVISION = """
. image/provision.sh
set -euo pipefail
provision_lists=/wanted
echo 'lab weirtest-new' >/wanted
provision_packages yes lab
"""


@pytest.fixture
def host(tmp_path):
    copy = Host(tmp_path)
    copy.archive(("weirtest-old", "1.0", "", ""))
    copy.run("apt-get -qq update && apt-get -qq -y install weirtest-old >/dev/null 2>&1")
    copy.archive(("weirtest-old", "2.0", "", ""), ("weirtest-new", "1.0", "weirtest-old (>= 2.0)", ""))
    yield copy
    copy.stop()


def left_behind(host):
    return host.run(f"ls {POLICY} {POLICY}* /var/lib/weir-provision 2>/dev/null", check=False)


def test_a_plain_installation_starts_services(host):
    """What the machine would do without us: the other tests would see it."""
    host.systemctl()
    host.run("apt-get -qq update; apt-get -qq -y install weirtest-new >/dev/null 2>&1")
    assert "start weirtest-new" in host.systemctl()
    assert "weirtest-new.service" in host.run(f"ls {ENABLED}")


def test_new_service_neither_starts_nor_is_enabled(host):
    host.systemctl()
    output = host.run(PROVISION)
    assert "installing 1 Debian packages (download" in output and "upgrading 1" in output, output
    log = host.systemctl()
    assert "start weirtest-new" not in log
    assert "restart weirtest-old" in log, "a service that was there before is restarted by its upgrade"
    enabled = host.run(f"ls {ENABLED} /etc/rc2.d")
    assert "weirtest-new.service" not in enabled and "weirtest-old.service" in enabled
    assert "S01weirtest-old" in enabled and "S01weirtest-new" not in enabled
    assert not left_behind(host)
    assert host.run(PROVISION) == "", "nothing is missing any more"


def test_an_upgrade_keeps_the_service_disabled(host):
    host.run(PROVISION)
    host.archive(("weirtest-old", "2.0", "", ""), ("weirtest-new", "1.1", "", ""))
    host.run("apt-get -qq update; apt-get -qq -y install weirtest-new >/dev/null 2>&1")
    assert host.run("dpkg-query -W -f '${Version}' weirtest-new") == "1.1"
    assert "weirtest-new.service" not in host.run(f"ls {ENABLED}")


def test_a_policy_that_was_there_is_asked_and_restored(host):
    host.run(f"""printf '#!/bin/sh\\necho "$*" >>/asked\\nexit 101\\n' >{POLICY}; chmod 755 {POLICY}""")
    before = host.run(f"cat {POLICY}")
    host.systemctl()
    host.run(PROVISION)
    assert "weirtest-old" in host.run("cat /asked") and "start" not in host.systemctl()
    assert host.run(f"cat {POLICY}") == before


def test_no_install_touches_nothing(host):
    before = host.run("ls -la --time-style=full-iso /var/lib/apt/lists /var/lib/dpkg /var/cache/apt")
    output = host.run(PROVISION.replace("provision_packages yes", "provision_packages no"), check=False)
    assert "missing packages, and --no-install was given: weirtest-new" in output
    assert host.run("ls -la --time-style=full-iso /var/lib/apt/lists /var/lib/dpkg /var/cache/apt") == before


def test_removes_no_package(host):
    """What is missing conflicts with a package of the user's: theirs stays."""
    host.archive(("weirtest-new", "1.0", "base-files\n                Conflicts: weirtest-old", ""))
    output = host.run(PROVISION, check=False)
    assert "apt cannot install weirtest-new" in output and "remove" in output
    assert "ii" in host.run("dpkg-query -W -f '${db:Status-Abbrev}' weirtest-old")
    assert not left_behind(host)


def test_waits_for_a_held_lock(host):
    holder = host.start("""exec python3 -c '
import fcntl, sys, time
lock = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)'""")
    assert holder.stdout.readline() == "held\n"
    waiting = host.start(PROVISION)
    assert waiting.stdout.readline().startswith("waiting for apt's lock, held by python3 (process ")
    holder.kill()
    holder.wait()
    output, _ = waiting.communicate(timeout=100)
    assert waiting.returncode == 0 and "installing 1 Debian packages" in output


def test_gives_up_on_a_lock_that_stays(host):
    output = host.run("""python3 -c '
import fcntl, os, sys
lock = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
sys.exit(os.waitstatus_to_exitcode(os.system("bash /provision")))' """.replace(
        "python3", f"cat >/provision <<'END'\n{PROVISION}END\nWEIR_APT_LOCK_SECONDS=2 python3"), check=False)
    assert "apt's lock is still held by python3" in output
    assert not left_behind(host)


def test_a_killed_installation_is_finished_and_undone(host):
    """The machine loses us, apt and dpkg in the middle of the new package's set-up."""
    host.archive(("weirtest-old", "2.0", "", ""),
                 ("weirtest-new", "1.0", "", "[ -e /second ] || { touch /second; kill -9 0; }"))
    killed = host.start(PROVISION)
    killed.communicate(timeout=100)
    assert killed.returncode and left_behind(host)
    host.systemctl()
    output = host.run(PROVISION)
    assert "interrupted installation" in output
    assert "start weirtest-new" not in host.systemctl()
    assert "weirtest-new.service" not in host.run(f"ls {ENABLED}")
    assert "ii" in host.run("dpkg-query -W -f '${db:Status-Abbrev}' weirtest-new")
    assert not left_behind(host)


def test_two_installations_wait_for_each_other(host):
    first = host.start("exec 9</var/lib/dpkg; flock 9; echo held; exec sleep 60")
    assert first.stdout.readline() == "held\n"
    second = host.start(PROVISION)
    assert second.stdout.readline() == "waiting for another command of ours that is installing packages\n"
    first.kill()
    first.wait()
    second.communicate(timeout=100)
    assert second.returncode == 0


MACHINE = '. image/provision.sh; provision_machine; echo usable'


@pytest.mark.parametrize("prefix, reason", [
    (["setpriv", "--reuid=65534", "--clear-groups"], "must run as root"),
    (["unshare", "-m", "sh", "-c", 'echo ID=debian >/tmp/r; echo VERSION_ID=11 >>/tmp/r; '
      'mount --bind /tmp/r "$(readlink -f /etc/os-release)"; exec "$@"', "sh"],
     "needs Debian 12; this is 'debian 11'"),
    (["setpriv", "--bounding-set=-sys_admin"], "does not let root make network namespaces"),
    (["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev/net; exec "$@"', "sh"], "/dev/net/tun is missing"),
], ids=["user", "release", "namespaces", "tun"])
def test_refuses_a_machine(host, prefix, reason):
    words = " ".join("'" + word + "'" for word in prefix)
    output = host.run(f"{words} bash -c '{MACHINE}'", check=False)
    assert reason in output and "usable" not in output


def test_accepts_a_machine(host):
    assert host.run(MACHINE) == "usable\n"
