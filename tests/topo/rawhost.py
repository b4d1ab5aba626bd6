# SPDX-License-Identifier: BSD-3-Clause
"""A host without a kernel stack: sends any frame, hears all, answers ARP and NDP for its addresses."""
import queue
import socket
import struct
import threading

from scapy.layers.inet import IP
from scapy.layers.inet6 import ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr, IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.utils6 import in6_getnsma, in6_getnsmac
from scapy.pton_ntop import inet_ntop, inet_pton

from .poll import wait_until

SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_MR_PROMISC = 263, 1, 1


class RawHost:
    """On an interface of a namespace, with addresses that the kernel there does not own.

    The kernel stays silent about them, so a test can speak TCP, fragments and ICMP by hand.
    mac: its own hardware address, default the interface's; changing .mac changes the answers.
    """

    def __init__(self, ns, interface="eth0", addresses=(), mac=None, answer=True):
        self.ns, self.addresses, self.answer = ns, list(addresses), answer
        self.mac = mac or ns.mac(interface)
        self.heard = queue.Queue()
        self.asked = []  # (requested address) of each ARP request or solicitation for us
        self._macs = {}
        self._sock = ns.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self._sock.bind((interface, 3))
        index = int(ns.run(["cat", f"/sys/class/net/{interface}/ifindex"]).stdout)
        promiscuous = struct.pack("iHH8s", index, PACKET_MR_PROMISC, 0, b"")
        self._sock.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, promiscuous)
        self._sock.settimeout(0.1)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop.is_set():
            try:
                data, address = self._sock.recvfrom(65535)
            except socket.timeout:
                continue
            except OSError:
                return
            if address[2] == socket.PACKET_OUTGOING:
                continue
            frame = Ether(data)
            if not self._neighbour(frame):
                self.heard.put(frame)

    def _neighbour(self, frame):
        if ARP in frame:
            arp = frame[ARP]
            self._macs[arp.psrc] = arp.hwsrc
            if arp.op == 1 and arp.pdst in self.addresses:
                self.asked.append(arp.pdst)
                if self.answer:
                    self.send_frame(Ether(dst=arp.hwsrc, src=self.mac) /
                                    ARP(op=2, hwsrc=self.mac, psrc=arp.pdst, hwdst=arp.hwsrc, pdst=arp.psrc))
            return True
        if ICMPv6ND_NA in frame:
            self._macs[frame[ICMPv6ND_NA].tgt] = frame.src
            return True
        if ICMPv6ND_NS in frame:
            target = frame[ICMPv6ND_NS].tgt
            if target in self.addresses:
                self.asked.append(target)
                if self.answer:
                    self.send_frame(Ether(dst=frame.src, src=self.mac) /
                                    IPv6(src=target, dst=frame[IPv6].src, hlim=255) /
                                    ICMPv6ND_NA(tgt=target, R=0, S=1, O=1) /
                                    ICMPv6NDOptDstLLAddr(lladdr=self.mac))
            return True
        return False

    def resolve(self, address, seconds=3.0):
        """Hardware address of a neighbour, asked anew."""
        self._macs.pop(address, None)
        if ":" in address:
            group = in6_getnsma(inet_pton(socket.AF_INET6, address))
            ask = (Ether(dst=in6_getnsmac(group), src=self.mac) /
                   IPv6(src=next(a for a in self.addresses if ":" in a),
                        dst=inet_ntop(socket.AF_INET6, group), hlim=255) /
                   ICMPv6ND_NS(tgt=address) / ICMPv6NDOptSrcLLAddr(lladdr=self.mac))
        else:
            ask = (Ether(dst="ff:ff:ff:ff:ff:ff", src=self.mac) /
                   ARP(op=1, hwsrc=self.mac, psrc=next(a for a in self.addresses if ":" not in a),
                       pdst=address))
        self.send_frame(ask)
        return wait_until(lambda: self._macs.get(address), f"{address} is resolved", seconds)

    def send_frame(self, frame):
        """A whole Ethernet frame: scapy packet or bytes."""
        self._sock.send(bytes(frame))

    def send(self, packet, via):
        """An IP packet (scapy or bytes) to the hardware address via."""
        ethertype = 0x86dd if bytes(packet)[0] >> 4 == 6 else 0x0800
        self.send_frame(Ether(dst=via, src=self.mac, type=ethertype) / bytes(packet))

    def expect(self, match, what, seconds=3.0):
        """The next heard frame for which match(frame) is true; others heard before it are dropped."""
        def look():
            while True:
                try:
                    frame = self.heard.get_nowait()
                except queue.Empty:
                    return None
                if match(frame):
                    return frame
        return wait_until(look, what, seconds)

    def silence(self, match, seconds=0.5):
        """True if no frame that matches is heard within that time."""
        try:
            self.expect(match, "silence is broken", seconds)
        except AssertionError:
            return True
        return False

    def stop(self):
        self._stop.set()
        self._thread.join(5)
        self._sock.close()


def ip_of(frame):
    """The IP layer, or None."""
    return frame[IP] if IP in frame else frame[IPv6] if IPv6 in frame else None
