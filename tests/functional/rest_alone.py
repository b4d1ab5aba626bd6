# SPDX-License-Identifier: BSD-3-Clause
"""iControl REST without a dataplane: weir-cp and weir-mgmt in one namespace, and what clients of it do often."""
import contextlib

from cp_alone import Cp
from topo import Topology
from topo.api import Api
from topo.weir import MGMT_USER

PASSWORD = "Nine-Towers-9x"
UPLOADS = "/mgmt/shared/file-transfer/uploads"


@contextlib.contextmanager
def rest_alone(options=()):
    """For fixtures; both have to be well at the end."""
    with Topology() as topo:
        cp = topo.add(Cp(topo.namespace("rest"), topo.dir, config=""))
        cp.daemon.arguments += ["--mgmt-user", MGMT_USER]
        cp.start()
        api = topo.add(Api(cp, options))
        yield api
        api.check_running()
        cp.daemon.check_running()


def refused(session, method, path, body=None, **options):
    """(status, message) of a request that is refused."""
    reply = session.send(method, path, body, **options)
    assert reply.status_code >= 400, reply.text
    error = reply.json()
    assert error["code"] == reply.status_code
    return reply.status_code, error["message"]


def add_user(api, name, role="admin", partition="all-partitions"):
    """A new user's session."""
    api.post("auth/user", {"name": name, "password": PASSWORD,
                           "partitionAccess": [{"name": partition, "role": role}]})
    return api.log_in(name, PASSWORD)


def upload(session, name, data):
    """Sends a file in one piece."""
    session.call("POST", f"{UPLOADS}/{name}", data=data, headers={
        "Content-Type": "application/octet-stream", "Content-Range": f"0-{len(data) - 1}/{len(data)}"})
