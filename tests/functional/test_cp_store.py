# SPDX-License-Identifier: BSD-3-Clause
"""weir-cp's running store and startup file, without a dataplane."""
import contextlib
import subprocess

import pytest
from cp_alone import cp, error_of  # noqa: F401  (cp is a fixture)

from topo.weir import ApiError, DaemonFault, program


def test_commit_survives_kill(cp):
    cp.start()
    origin = cp.conf.read_text()
    for number in range(20):
        cp.edit("create", f"ltm pool p{number} members add {{ 10.0.2.{number + 20}:80 {{ ratio {number + 1} }} }}")
        cp.edit("modify", f"ltm node 10.0.2.{number + 20} session user-disabled")
        if number % 5 == 4:
            before = cp.list(""), cp.status()["generation"], cp.status()["unsaved"]
            cp.restart(kill=True)
            assert (cp.list(""), cp.status()["generation"], cp.status()["unsaved"]) == before
    assert cp.conf.read_text() == origin
    history = cp.show("sys history", limit=3)
    assert [row["what"] for row in history][1].startswith("create ltm pool p19 members add")
    assert history[0]["author"] == "root" and len(history) == 3


def test_save_and_load(cp):
    cp.start()
    cp.edit("modify", "ltm node 10.0.2.11 ratio 7 session user-disabled")
    cp.edit("modify", 'ltm pool web description "a \\"quoted\\" text"')
    assert cp.status()["unsaved"] == 2
    result = cp.ask("save")[1]
    assert result["unsaved"] == 0 == cp.status()["unsaved"] and cp.status()["saved"] == result["generation"]
    text, mode = cp.conf.read_text(), cp.conf.stat().st_mode & 0o777
    assert "ratio 7" in text and "session user-disabled" in text and '"a \\"quoted\\" text"' in text
    assert mode == 0o644 and not list(cp.run_dir.glob("*.new"))
    cp.edit("delete", "ltm virtual web")
    cp.edit("delete", "ltm pool web")
    result = cp.ask("load")[1]
    assert "ltm pool /Common/web" in cp.list("ltm") and "session user-disabled" in cp.list("ltm node")
    assert cp.status()["unsaved"] == 0
    for path in (cp.store / name for name in ("running", "log", "startup", "lock")):
        path.unlink()
    cp.restart(kill=True)
    assert "ratio 7" in cp.list("ltm node"), "a new store begins with the startup file"


def test_save_does_not_overwrite_somebody_elses_change(cp):
    cp.start()
    cp.edit("modify", "ltm node 10.0.2.11 ratio 7")
    cp.conf.write_text(cp.conf.read_text() + "# by hand\n")
    error = error_of(cp.ask, "save")
    assert error["code"] == 409 and "+# by hand" in error["difference"]
    assert "by hand" in cp.conf.read_text()
    cp.ask("save", force=True)
    assert "by hand" not in cp.conf.read_text()
    cp.edit("modify", "ltm node 10.0.2.11 ratio 8")
    cp.conf.unlink()
    cp.ask("save")
    assert "ratio 8" in cp.conf.read_text()


def test_load_checks_first(cp):
    cp.start()
    before = cp.list(""), cp.status()["generation"]
    bad = cp.conf.read_text().replace("ratio-member", "ratio-membre")
    line = next(n for n, text in enumerate(bad.splitlines(), 1) if "ratio-membre" in text)
    for options in ({}, {"verify": True}, {"merge": True}):
        error = error_of(cp.ask, "load", text=bad, file="their.conf", **options)
        assert (error["file"], error["line"], error["kind"], error["field"]) == (
            "their.conf", line, "ltm pool", "load-balancing-mode"), error
    cp.ask("load", text="ltm pool only { }", verify=True)
    assert (cp.list(""), cp.status()["generation"]) == before
    cp.ask("load", text="ltm pool merged { }", merge=True)
    assert "ltm pool /Common/merged" in cp.list("ltm pool") and "ltm pool /Common/web" in cp.list("ltm pool")
    cp.ask("load", text="ltm pool only { }")
    assert cp.list("ltm pool") == "ltm pool /Common/only { }\n" and cp.status()["unsaved"] == 2


def test_wrong_startup_file(cp):
    """Refused with its place when there is no running store; with one, that is used."""
    good = cp.conf.read_text()
    cp.conf.write_text(good.replace("ratio-member", "ratio-membre"))
    with pytest.raises(DaemonFault):
        cp.start()
    assert "weir.conf:" in cp.daemon.text() and "load-balancing-mode" in cp.daemon.text()
    assert cp.daemon.process.wait(10) == 1
    verify = subprocess.run([program("weir-cp"), "--verify", "--config", cp.conf], capture_output=True, text=True)
    assert verify.returncode == 1 and "load-balancing-mode" in verify.stderr and "/Common/web" in verify.stderr
    cp.conf.write_text(good)
    assert subprocess.run([program("weir-cp"), "--verify", "--config", cp.conf]).returncode == 0
    cp.daemon.process = None
    cp.start()
    cp.conf.write_text("nonsense {")
    cp.restart()
    assert "ltm pool /Common/web" in cp.list("ltm")


def test_one_store_one_daemon(cp):
    cp.start()
    second = subprocess.run([program("weir-cp"), "--run-dir", cp.run_dir, "--config", cp.conf, "--store", cp.store],
                            capture_output=True, text=True, timeout=20)
    assert second.returncode == 1 and "another weir-cp uses it" in second.stderr
    assert cp.status()


def test_full_disk_refuses_the_commit(cp, tmp_path):
    """A store that cannot grow: the commit is refused and nothing has changed, in memory neither."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path], check=True)
    cp.daemon.arguments[cp.daemon.arguments.index(str(cp.store))] = str(tmp_path / "store")
    try:
        cp.start()
        fill = tmp_path / "fill"
        with contextlib.suppress(OSError), open(fill, "wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        before = None
        with pytest.raises(ApiError, match="running store"):
            for number in range(200):
                before = cp.list(""), cp.status()["generation"]
                cp.edit("create", f"ltm pool p{number} description {'x' * 400}")
        assert (cp.list(""), cp.status()["generation"]) == before
        fill.unlink()
        cp.edit("create", "ltm pool last")
        before = cp.list(""), cp.status()["generation"]
        cp.restart(kill=True)
        assert (cp.list(""), cp.status()["generation"]) == before
        cp.stop()
        cp.daemon.process = None
    finally:
        if cp.daemon.running():
            cp.daemon.kill()
        subprocess.run(["umount", tmp_path], check=True)


def test_full_disk_and_files_that_cannot_be_opened_again(cp, tmp_path):
    """As after an I/O error that left the disk read-only: commits are refused, weir-cp goes on."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path], check=True)
    cp.daemon.arguments[cp.daemon.arguments.index(str(cp.store))] = str(tmp_path / "store")
    try:
        cp.start()
        (tmp_path / "store" / "log").chmod(0o400)
        with contextlib.suppress(OSError), open(tmp_path / "fill", "wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        before = None
        with pytest.raises(ApiError, match="running store"):
            for number in range(200):
                before = cp.list(""), cp.status()["generation"], cp.status()["unsaved"]
                cp.edit("create", f"ltm pool p{number} description {'x' * 400}")
        for _ in range(3):
            assert error_of(cp.edit, "create", f"ltm pool q description {'x' * 400}")["code"] == 500
        assert (cp.list(""), cp.status()["generation"], cp.status()["unsaved"]) == before
        (tmp_path / "fill").unlink()
        cp.edit("create", "ltm pool last")
        before = cp.list(""), cp.status()["generation"], cp.status()["unsaved"]
        (tmp_path / "store" / "log").chmod(0o600)
        cp.restart(kill=True)
        assert (cp.list(""), cp.status()["generation"], cp.status()["unsaved"]) == before
        cp.stop()
        cp.daemon.process = None
    finally:
        if cp.daemon.running():
            cp.daemon.kill()
        subprocess.run(["umount", tmp_path], check=True)


def test_save_through_a_symbolic_link(cp):
    """The file that the link names is written; the link stays."""
    cp.start()
    own = cp.run_dir / "own"
    own.mkdir()
    cp.conf.rename(own / "site.conf")
    cp.conf.symlink_to("own/site.conf")
    cp.edit("modify", "ltm pool web description linked")
    cp.ask("save")
    assert cp.conf.is_symlink() and "linked" in (own / "site.conf").read_text()
    assert [path.name for path in own.iterdir()] == ["site.conf"]


def test_secrets_are_written_down_encrypted(cp):
    cp.conf.write_text(cp.conf.read_text() + "ltm monitor http old { password FirstSecret }\n")
    cp.start()
    cp.edit("create", 'ltm monitor http new username u password "Second Secret"')
    cp.ask("create", kind="ltm monitor radius", name="third", body={"secret": "ThirdSecret", "username": "u"})
    assert cp.show("sys history")[1]["what"] == "create ltm monitor http new username u password ***"
    assert "password $W$1$" in cp.list("ltm monitor http")
    rows = cp.ask("list", kind="ltm monitor radius", name="third", form="rest")[0]
    assert rows[0]["secret"].startswith("$W$1$")
    cp.ask("save")
    before = cp.list("ltm monitor")
    cp.restart(kill=True)
    assert cp.list("ltm monitor") == before
    cp.conf.write_text(cp.conf.read_text().replace("username u", "username v"))
    cp.ask("load")
    assert cp.list("ltm monitor") == before.replace("username u", "username v")
    key = cp.store / "machine-key"
    assert key.stat().st_mode & 0o777 == 0o600 and key.stat().st_size == 32
    for path in (path for path in cp.run_dir.rglob("*") if path.is_file()):
        assert b"Secret" not in path.read_bytes(), path
    # without the key the configuration stays, only its secrets are lost
    cp.stop()
    key.unlink()
    cp.start()
    assert "username v" in cp.list("ltm monitor")
    text = cp.conf.read_text()
    error = error_of(cp.ask, "load", text=text, file="their.conf")
    assert error["field"] in ("password", "secret") and "another machine" in error["reason"]


def test_a_key_of_the_wrong_size_is_not_used(cp):
    cp.start()
    cp.stop()
    (cp.store / "machine-key").write_bytes(b"short")
    with pytest.raises(DaemonFault):
        cp.start()
    assert "machine-key: is no key" in cp.daemon.text() and cp.daemon.process.wait(10) == 1
    cp.daemon.process = None
