# SPDX-License-Identifier: BSD-3-Clause
"""Topologies for the lab and the functional tests: everything lives in network namespaces.

    with Topology("weir-lab") as topo:             # namespaces are named weir-lab-client, ...
        client = topo.namespace("client")          # .run(), .popen(), .socket()
        weir = topo.namespace("lb")
        topo.veth(client, "eth0", weir, "p1")      # checksums and sizes are right on both ends
        client.address("eth0", "10.0.1.10/24")
        nginx = topo.add(Nginx(server, "s1", ["10.0.2.1:80"]))
        lb = topo.add(Weir(weir, topo.dir / "weir", config, ports={"1.1": "p1", "1.2": "p2"}))
        print(lb.weirsh("show ltm pool members"))

Leaving the `with` stops all that was added, last first, then removes the namespaces. A daemon that does
not end cleanly raises DaemonFault. `standard()` in picture.py builds the picture that most tests use.
"""
from .clients import http_burst, http_get, ping, udp_ask, wrk_end, wrk_start
from .links import Link
from .load import Load
from .netns import Namespace, Topology, clean_leftovers
from .picture import Picture, standard
from .poll import DeadlineError, stays, wait_until
from .servers import Nginx, TcpServer, UdpEcho
from .weir import DaemonFault, Weir, build_dir
from .weirconf import config

__all__ = ["DaemonFault", "DeadlineError", "Link", "Load", "Namespace", "Nginx", "Picture", "TcpServer",
           "Topology", "UdpEcho", "Weir", "build_dir", "clean_leftovers", "config", "http_burst",
           "http_get", "ping", "standard", "stays", "udp_ask", "wait_until", "wrk_end", "wrk_start"]
