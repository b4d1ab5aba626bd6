# SPDX-License-Identifier: BSD-3-Clause
"""Archives of the configuration: made, fetched, sent and loaded by Ansible's modules; what is refused changes nothing."""
import io
import tarfile

import pytest

from topo import standard
from topo.api import Api, Refused

UPLOADS = "/mgmt/shared/file-transfer/uploads/"
DOWNLOADS = "/mgmt/shared/file-transfer/ucs-downloads/"


@pytest.fixture(scope="module")
def api():
    """weir-mgmt of a Weir with a pool and a secret."""
    with standard(servers=1) as topo:
        api = topo.add(Api(topo.picture.start_weir(monitor=True)))
        api.topo = topo
        api.post("ltm/pool", {"name": "site", "members": ["10.0.2.11:80"]})
        api.post("ltm/monitor/http", {"name": "secret", "username": "bob", "password": "hidden word"})
        yield api


def send(api, name, data, who=None):
    """Uploads as clients do, in two pieces."""
    half = len(data) // 2
    for start, end in ((0, half), (half, len(data))):
        (who or api).call("POST", UPLOADS + name, data=data[start:end], headers={
            "Content-Type": "application/octet-stream", "Content-Range": f"{start}-{end - 1}/{len(data)}"})


def keep(api, name, data):
    """Makes an archive of what was sent."""
    send(api, name, data)
    api.post("util/unix-mv", {"command": "run", "utilCmdArgs": f"/var/config/rest/downloads/{name} /var/local/ucs/{name}"})


def refused(api, name):
    with pytest.raises(Refused) as caught:
        api.post("sys/ucs", {"command": "load", "name": name})
    assert caught.value.status == 400
    return caught.value.message


def test_ansible(api):
    run = api.play("archive")
    assert "description" not in api.get("ltm/pool/~Common~site")  # as it was when the archive was made
    assert "ltm pool" in run.result("Commands")["stdout"][0]
    assert "15.1.0" in run.result("Commands")["stdout"][1]
    assert api.get("ltm/pool/merged")["description"] == "from a text"
    assert api.items("sys/ucs") == []


def test_what_an_archive_holds(api):
    api.post("sys/ucs", {"command": "save", "name": "held"})
    data = api.call("GET", DOWNLOADS + "held.ucs").content
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        assert archive.getnames() == ["manifest.json", "weir.conf"]
        text = archive.extractfile("weir.conf").read().decode()
    assert "ltm monitor http" in text and "password $W$" in text
    assert "hidden word" not in text and api.password not in text
    keep(api, "again.ucs", data)
    api.delete("ltm/pool/site")
    api.post("sys/ucs", {"command": "load", "name": "again.ucs"})
    assert api.exists("ltm/pool/site") and api.weir.status()["unsaved"] == 0


def test_users_and_files_come_back(api):
    """What is made with an object, such as a checksum, is no word of an archive."""
    api.post("auth/user", {"name": "kept", "password": "Lantern-4-the-Tower",
                           "partitionAccess": [{"name": "all-partitions", "role": "guest"}]})
    api.post("sys/file/alert-script", {"name": "page.sh", "content": "#!/bin/sh\nexit 0\n"})
    script = api.get("sys/file/alert-script/page.sh")
    api.post("sys/ucs", {"command": "save", "name": "whole"})
    api.delete("sys/file/alert-script/page.sh")
    api.post("sys/ucs", {"command": "load", "name": "whole"})
    assert api.get("sys/file/alert-script/page.sh")["checksum"] == script["checksum"]
    api.log_in("kept", "Lantern-4-the-Tower").close()
    api.delete("auth/user/kept")


def damaged(data, change):
    """The archive with other entries."""
    out = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as old, tarfile.open(fileobj=out, mode="w:gz") as new:
        for entry in old.getmembers():
            new.addfile(entry, old.extractfile(entry))
        change(new)
    return out.getvalue()


def add(name, **fields):
    def change(archive):
        entry = tarfile.TarInfo(name)
        for key, value in fields.items():
            setattr(entry, key, value)
        archive.addfile(entry, io.BytesIO(b""))
    return change


@pytest.mark.parametrize("change", [
    add("../../../etc/cron.d/x"), add("/etc/passwd"), add("weir.conf", type=tarfile.SYMTYPE, linkname="/etc/shadow"),
    add("link", type=tarfile.LNKTYPE, linkname="weir.conf"), add("pipe", type=tarfile.FIFOTYPE), add("weir.conf")],
    ids=["dots", "absolute", "symlink", "hardlink", "fifo", "twice"])
def test_what_does_not_belong_into_it_is_refused(api, change):
    api.post("sys/ucs", {"command": "save", "name": "good"})
    before = api.weir.status()["generation"]
    keep(api, "bad.ucs", damaged(api.call("GET", DOWNLOADS + "good.ucs").content, change))
    assert "bad.ucs" in refused(api, "bad.ucs")
    assert api.weir.status()["generation"] == before


def test_damage_is_refused(api):
    data = api.call("GET", DOWNLOADS + "good.ucs").content
    for bad in (data[:-20], data[:40], b"no archive at all"):
        keep(api, "bad.ucs", bad)
        assert "bad.ucs" in refused(api, "bad.ucs")
    assert "no file none.ucs" in refused(api, "none")


def test_another_machine_is_told_which_secrets_it_cannot_read(api):
    """The key of this machine is made anew, as on another."""
    weir = api.weir
    api.post("sys/ucs", {"command": "save", "name": "moved"})
    api.patch("ltm/monitor/http/secret", {"password": "none"})
    api.post("sys/config", {"command": "save"})
    weir.cp.stop()
    (weir.store / "machine-key").unlink()
    weir.start_cp()
    fresh = api.log_in()
    before = weir.status()["generation"]
    message = refused(fresh, "moved.ucs")
    assert "encrypted by another machine" in message
    assert "ltm monitor http" in message and "secret password" in message
    assert weir.status()["generation"] == before
    fresh.close()


def test_administrators_alone(api):
    fresh = api.log_in()
    fresh.post("auth/user", {"name": "watcher", "password": "Lantern-4-the-Tower",
                             "partitionAccess": [{"name": "all-partitions", "role": "resource-admin"}]})
    other = api.log_in("watcher", "Lantern-4-the-Tower")
    for method, path, body in (("GET", "sys/ucs", None), ("GET", DOWNLOADS + "good.ucs", None),
                               ("POST", "sys/ucs", {"command": "save", "name": "x"}),
                               ("POST", "task/sys/ucs", {"command": "save", "name": "x"}),
                               ("DELETE", "sys/ucs/good.ucs", None)):
        assert other.send(method, path, body).status_code == 403
    # nor by way of what objects take from files
    reply = other.send("POST", "sys/file/ssl-cert", {"name": "c", "sourcePath": "file:/var/local/ucs/good.ucs"})
    assert reply.status_code == 400 and "Permission denied" in reply.json()["message"]
    # and what one user sends, another does not see
    send(fresh, "mine.txt", b"of admin")
    reply = other.send("POST", "sys/file/ssl-cert", {"name": "c", "sourcePath": "file:/tmp/mine.txt"})
    assert reply.status_code == 400 and "no file mine.txt" in reply.json()["message"]
    other.close()
    fresh.close()
