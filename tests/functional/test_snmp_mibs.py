# SPDX-License-Identifier: BSD-3-Clause
"""Our MIB modules: net-snmp's tools load them without a word, and they name what is answered."""
import subprocess

from topo.snmp import MIBS

MODULES = "WEIR-COMPAT-MIB:WEIR-EVENTS-MIB:WEIR-LTM-MIB:WEIR-SYSTEM-MIB"


def translate(*words):
    return subprocess.run(["snmptranslate", "-M", f"{MIBS}:{MIBS / 'base'}", "-m", MODULES, "-Pw", *words],
                          capture_output=True, text=True, check=True)


def test_modules_load_and_name():
    names = {"WEIR-LTM-MIB::ltmPoolMemberStatServerBytesIn": ".1.3.6.1.4.1.3375.2.2.5.4.3.1.6",
             "WEIR-LTM-MIB::ltmVsStatusAvailState": ".1.3.6.1.4.1.3375.2.2.10.13.2.1.2",
             "WEIR-LTM-MIB::ltmPoolNumber": ".1.3.6.1.4.1.3375.2.2.5.1.1",
             "WEIR-SYSTEM-MIB::sysStatClientCurConns": ".1.3.6.1.4.1.3375.2.1.1.2.1.8",
             "WEIR-COMPAT-MIB::bigipNodeDown": ".1.3.6.1.4.1.3375.2.4.0.12",
             "WEIR-COMPAT-MIB::bigipNotifyObjPort": ".1.3.6.1.4.1.3375.2.4.1.3"}
    for name, oid in names.items():
        done = translate("-On", name)
        assert done.stdout.strip() == oid and not done.stderr
    back = translate(".1.3.6.1.4.1.3375.2.2.4.3.2.1.3.5.47.97.47.98.99")
    assert back.stdout.strip() == 'WEIR-LTM-MIB::ltmNodeAddrStatusAvailState."/a/bc"' and not back.stderr
