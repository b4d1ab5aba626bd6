# SPDX-License-Identifier: BSD-3-Clause
"""Users of the management API at weir-cp's door: log-ins, tokens, wrong passwords, what is kept of passwords."""
import json
import os
import pty
import pwd
import re
import select
import stat
import statistics
import subprocess
import threading
import time

import pytest
from topo import wait_until
from topo.weir import ApiError, program

from cp_alone import cp, error_of, milliseconds  # noqa: F401

PASSWORD = "correct horse battery"


def add_user(cp, name, role="guest", partition="all-partitions", password=PASSWORD, more=""):
    cp.edit("create", f'auth user {name} password "{password}" '
            f"partition-access add {{ {partition} {{ role {role} }} }} {more}")


def basic(user, password=PASSWORD, address="192.0.2.7"):
    return {"user": user, "password": password, "address": address}


def by_token(token, address="192.0.2.7"):
    return {"token": token, "address": address}


def login(cp, user, password=PASSWORD, address="192.0.2.7"):
    return cp.ask("login", **{"as": basic(user, password, address)})[1]


def whoami(cp, credentials):
    return cp.ask("whoami", **{"as": credentials})[1]["user"]


def refusal(cp, credentials, op="whoami", **arguments):
    error = error_of(cp.ask, op, **{"as": credentials}, **arguments)
    return error["code"], error["field"]


def test_log_in_and_out(cp):
    cp.start()
    add_user(cp, "bob")
    made = login(cp, "bob")
    assert len(made["token"]) == 26 and made["token"].isalnum() and made["user"] == "bob"
    assert made["timeout"] == 1200 and made["expires"] - made["updated"] == 1200 * 1000
    token = by_token(made["token"])
    assert whoami(cp, token) == "bob" and whoami(cp, basic("bob")) == "bob"
    assert whoami(cp, {**token, **basic("bob")}) == "bob"
    rows = cp.ask("list-tokens", **{"as": token})[0]
    assert [row["id"] for row in rows] == [made["id"]] and "token" not in rows[0]
    changed = cp.ask("modify-token", token=made["token"], timeout=36000, **{"as": token})[1]
    assert changed["timeout"] == 36000
    assert refusal(cp, token, "modify-token", token=made["token"], timeout=36001) == (400, "timeout")
    cp.ask("logout", token=made["token"], **{"as": token})
    assert refusal(cp, token) == (401, "token")
    assert refusal(cp, token, "login") == (401, "token")
    text = cp.daemon.text()
    assert "log-in of bob from 192.0.2.7" in text and f"token {made['id']} made for bob from 192.0.2.7" in text
    assert "log-out of bob from 192.0.2.7" in text and made["token"] not in text


def test_both_must_be_valid_and_of_one_user(cp):
    cp.start()
    add_user(cp, "bob")
    add_user(cp, "ann")
    token = login(cp, "bob")["token"]
    assert whoami(cp, {"token": token, **basic("bob")}) == "bob"
    assert refusal(cp, {"token": token, **basic("ann")}) == (401, "user")
    assert refusal(cp, {"token": token, **basic("nobody")}) == (401, "user")
    assert refusal(cp, {"token": token, **basic("bob", "wrong")}) == (401, "password")
    assert refusal(cp, {"token": "A" * 26, **basic("bob")}) == (401, "token")


BAD = [
    (None, 400, "as"), ([], 400, "as"), ("bob", 400, "as"), (1, 400, "as"), ({}, 401, "as"),
    ({"address": "192.0.2.7"}, 401, "as"), ({"user": "bob"}, 400, "password"), ({"password": "x"}, 400, "user"),
    ({"user": "", "password": "x"}, 400, "user"), ({"user": "bob", "password": ""}, 400, "password"),
    ({"token": ""}, 400, "token"), ({"token": None}, 400, "token"), ({"token": 7}, 400, "token"),
    ({"token": ["x"]}, 400, "token"), ({"user": {"bytes": "bob"}, "password": "x"}, 400, "user"),
    ({"user": "b" * 64, "password": "x"}, 400, "user"),
    ({"user": "bob", "password": "x" * 256}, 400, "password"), ({"token": "A" * 64}, 400, "token"),
    ({"token": "A" * 26}, 401, "token"), ({"user": "bob", "password": "x", "uid": 0}, 400, "as"),
    ({"user": "bob", "password": "x", "address": ""}, 400, "address"),
    ({"user": "bob", "password": "x", "address": "a\nb"}, 400, "address"),
    ({"user": "bob", "password": "x", "address": "a" * 64}, 400, "address"),
    ({"user": "/Common/bob", "password": "x"}, 401, "password"), ({"user": "bob", "password": "x"}, 401, "password"),
    ({"user": "admin", "password": "admin"}, 401, "password"), ({"user": "root", "password": "x"}, 401, "password"),
    ({"user": "all", "password": "x"}, 401, "password"), ({"user": "*", "password": "*"}, 401, "password"),
    ({"user": "bob", "password": "$y$j9T$x"}, 401, "password"), ({"user": "\u202e", "password": "x"}, 401, "password"),
    ({"user": "b{}\"'\\#;|ob", "password": "x"}, 401, "password"), ({"token": "../../etc"}, 401, "token"),
]


def test_bad_credentials(cp):
    """Whatever stands for credentials: a clear answer, nothing done, weir-cp goes on."""
    cp.start()
    add_user(cp, "bob")
    before = cp.list("ltm")
    for number, (credentials, code, field) in enumerate(BAD):
        if isinstance(credentials, dict) and "password" in credentials and "address" not in credentials:
            credentials = {**credentials, "address": f"192.0.2.{number}"}
        error = error_of(cp.ask, "delete", kind="ltm virtual", name="web", **{"as": credentials})
        assert (error["code"], error["field"]) == (code, field), (credentials, error)
    assert cp.list("ltm") == before
    assert "\u202e" not in cp.daemon.text() and "an unknown user" in cp.daemon.text()


def test_wrong_passwords_slow_down_who_gives_them(cp):
    cp.start()
    add_user(cp, "bob")
    for number in range(3):
        assert refusal(cp, basic("bob", f"wrong {number}")) == (401, "password")
    error = error_of(cp.ask, "whoami", **{"as": basic("bob")})
    assert error["code"] == 429 and error["retry"] == 1
    # Not from another address, not another user from this one.
    assert whoami(cp, basic("bob", address="192.0.2.8")) == "bob"
    assert refusal(cp, basic("ann", "x")) == (401, "password")
    wait_until(lambda: _code(cp, basic("bob")) == 200, "bob is let in", 5)
    # A success forgets it all.
    assert refusal(cp, basic("bob", "wrong")) == (401, "password")
    assert whoami(cp, basic("bob")) == "bob"


def test_delay_grows(cp):
    cp.start()
    add_user(cp, "bob")
    delays, number = [], 0
    while len(delays) < 3:
        error = error_of(cp.ask, "whoami", **{"as": basic("bob", f"wrong {number}")})
        number += 1
        if error["code"] == 429:
            if not delays or error["retry"] > delays[-1]:
                delays.append(error["retry"])
            time.sleep(0.2)
    assert delays[0] == 1 and set(delays) < {1, 2, 4, 8, 16}
    assert "failed: 4 in a row, the next has to wait" in cp.daemon.text()


def test_unknown_users_cost_the_same_time(cp):
    cp.start()
    add_user(cp, "bob")
    cp.edit("create", "auth user locked")
    times = {"bob": [], "nobody": [], "locked": []}
    for number in range(15):
        for name, all_times in times.items():
            credentials = basic(name, "wrong password", f"10.1.{number}.1")
            all_times.append(milliseconds(lambda c=credentials: refusal(cp, c)))
    medians = {name: statistics.median(values) for name, values in times.items()}
    assert max(medians.values()) < 1.5 * min(medians.values()), medians
    assert min(medians.values()) > 3


def test_the_loop_never_waits_for_passwords(cp):
    """While a hundred passwords are checked, others are answered at once; what is too much is refused."""
    cp.start()
    add_user(cp, "bob")
    token = by_token(login(cp, "bob")["token"])
    codes, lock = [], threading.Lock()

    def attack(number):
        code = refusal(cp, basic("bob", f"guess {number}", f"10.2.{number}.1"))[0]
        with lock:
            codes.append(code)

    threads = [threading.Thread(target=attack, args=(number,)) for number in range(120)]
    for thread in threads:
        thread.start()
    slowest = max(milliseconds(lambda: whoami(cp, token)) for _ in range(50))
    for thread in threads:
        thread.join()
    assert set(codes) == {401, 503} and codes.count(401) >= 64
    assert slowest < 500


def test_what_was_right_is_remembered_until_the_user_changes(cp):
    cp.start()
    add_user(cp, "bob")
    whoami(cp, basic("bob"))
    quick = statistics.median(milliseconds(lambda: whoami(cp, basic("bob"))) for _ in range(20))
    slow = statistics.median(milliseconds(lambda n=n: refusal(cp, basic("bob", "wrong", f"10.3.{n}.1")))
                             for n in range(5))
    assert quick < slow / 2
    cp.edit("modify", 'auth user bob password "another password"')
    assert refusal(cp, basic("bob")) == (401, "password")
    assert whoami(cp, basic("bob", "another password")) == "bob"


@pytest.mark.parametrize("change", [
    'modify auth user bob password "another password"',
    "modify auth user bob partition-access modify { all-partitions { role operator } }",
    "modify auth user bob partition-access replace-all-with { Common { role guest } }",
    "modify auth user bob encrypted-password none",
    "delete auth user bob",
])
def test_a_changed_user_has_no_tokens(cp, change):
    cp.start()
    add_user(cp, "bob")
    add_user(cp, "ann")
    token, other = by_token(login(cp, "bob")["token"]), by_token(login(cp, "ann")["token"])
    cp.edit("modify", "auth user bob description x shell tmsh")
    cp.edit("modify", f'auth user bob password "{PASSWORD}"')
    assert whoami(cp, token) == "bob"
    cp.edit(*change.split(" ", 1))
    assert refusal(cp, token) == (401, "token")
    assert whoami(cp, other) == "ann"
    if change.startswith("delete"):
        add_user(cp, "bob")
        assert refusal(cp, token) == (401, "token")


def test_a_hundred_tokens_each(cp):
    cp.start()
    add_user(cp, "bob")
    add_user(cp, "ann")
    other = by_token(login(cp, "ann")["token"])
    tokens = [login(cp, "bob")["token"] for _ in range(101)]
    assert refusal(cp, by_token(tokens[0])) == (401, "token")
    assert whoami(cp, by_token(tokens[1])) == "bob" and whoami(cp, by_token(tokens[100])) == "bob"
    assert whoami(cp, other) == "ann"
    assert len(cp.ask("list-tokens", **{"as": by_token(tokens[1])})[0]) == 100
    assert len(cp.ask("list-tokens")[0]) == 101 and len(cp.ask("list-tokens", user="ann")[0]) == 1
    assert refusal(cp, other, "logout", token=tokens[1]) == (404, "token")
    made = cp.ask("list-tokens", user="ann")[0][0]
    cp.ask("logout", **{"token-id": made["id"]})
    assert refusal(cp, other) == (401, "token")


def test_tokens_end(cp):
    cp.start()
    add_user(cp, "bob")
    token = by_token(login(cp, "bob")["token"])
    cp.ask("modify-token", token=token["token"], timeout=1, **{"as": token})
    wait_until(lambda: _code(cp, token) == 401, "the token ends", 5)
    token = by_token(login(cp, "bob")["token"])
    cp.restart()
    assert refusal(cp, token) == (401, "token")
    assert whoami(cp, basic("bob")) == "bob"


def _code(cp, credentials):
    try:
        cp.ask("whoami", **{"as": credentials})
        return 200
    except ApiError as error:
        return error.error["code"]


def memory_of(cp):
    status = open(f"/proc/{cp.daemon.process.pid}/status", encoding="ascii").read()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def test_thousands_of_log_ins(cp):
    """Each with its log-out, or without: memory stays."""
    cp.start()
    add_user(cp, "bob")
    with cp.connect() as sock:
        def ask(message):
            cp.send(sock, message)
            return cp.receive(sock)["result"]

        def log_ins(count):
            for number in range(count):
                token = ask({"op": "login", "as": basic("bob")})["token"]
                if number % 2:
                    ask({"op": "logout", "token": token, "as": by_token(token)})

        log_ins(500)
        before = memory_of(cp)
        log_ins(3000)
        if "sanitize" not in str(cp.daemon.process.args):  # they keep freed memory for a while
            assert memory_of(cp) - before < 1024
    assert len(cp.ask("list-tokens")[0]) in (99, 100)


def test_own_password(cp):
    cp.start()
    add_user(cp, "bob")
    token = by_token(login(cp, "bob")["token"])
    fresh = "a fresh password"
    for old, new, answer in (("wrong", fresh, (401, "old")), (PASSWORD, "short", (400, "new")),
                             (PASSWORD, None, (400, "new")), (None, fresh, (400, "old"))):
        assert refusal(cp, token, "change-password", old=old, new=new) == answer
    cp.ask("change-password", old=PASSWORD, new=fresh, **{"as": token})
    assert refusal(cp, token) == (401, "token") and refusal(cp, basic("bob")) == (401, "password")
    assert whoami(cp, basic("bob", fresh)) == "bob"
    history = cp.show("sys history", limit=1)[0]
    assert history["author"] == "bob" and history["what"] == "modify auth user bob password ***"
    assert error_of(cp.ask, "change-password", old="x", new=fresh)["code"] == 400


def test_a_password_that_is_replaced_meanwhile_changes_nothing(cp):
    """Somebody who knows the old one cannot undo what the administrator does against him."""
    cp.start()
    add_user(cp, "bob")
    token = by_token(login(cp, "bob")["token"])
    crowd = [cp.connect() for _ in range(40)]
    for number, sock in enumerate(crowd):
        cp.send(sock, {"op": "whoami", "as": basic("bob", f"guess {number}", f"10.6.{number}.1")})
    with cp.connect() as sock:
        cp.send(sock, {"op": "change-password", "old": PASSWORD, "new": "a password of his own", "as": token})
        cp.edit("modify", 'auth user bob password "the one that counts"')
        error = cp.receive(sock)["error"]
    for one in crowd:
        one.close()
    assert (error["code"], error["field"]) == (401, "old")
    assert whoami(cp, basic("bob", "the one that counts")) == "bob"


def test_allowed_networks(cp):
    cp.start()
    add_user(cp, "bob")
    token = login(cp, "bob")["token"]
    cp.edit("modify", "sys httpd allow { 192.0.2.0/24 2001:db8::/32 }")
    for address in ("192.0.2.200", "2001:db8::9"):
        assert whoami(cp, by_token(token, address)) == "bob" and whoami(cp, basic("bob", address=address)) == "bob"
    for address in ("198.51.100.1", "2001:db9::1", "::ffff:198.51.100.1", "nowhere"):
        assert refusal(cp, by_token(token, address)) == (401, "address")
        assert refusal(cp, basic("bob", address=address), "login") == (401, "address")
    assert refusal(cp, {"token": token}) == (401, "address")
    cp.edit("modify", "sys httpd allow none")
    assert refusal(cp, by_token(token)) == (401, "address")
    cp.edit("modify", "sys httpd allow { All }")
    assert whoami(cp, by_token(token)) == "bob"


def test_passwords_stand_nowhere(cp):
    """Not in store, history, weir.conf or log; neither right ones nor wrong ones, nor tokens."""
    cp.start()
    secrets = ["first pass phrase", "second pass phrase", "third pass phrase", "wrong pass phrase"]
    add_user(cp, "bob", password=secrets[0])
    cp.ask("modify", kind="auth user", name="bob", body={"password": secrets[1]})
    made = login(cp, "bob", secrets[1])
    cp.ask("change-password", old=secrets[1], new=secrets[2], **{"as": by_token(made["token"])})
    refusal(cp, basic("bob", secrets[3]))
    refusal(cp, {"user": secrets[3], "password": secrets[3]})
    error_of(cp.edit, "modify", f'auth user bob password "{secrets[3]}" nonsense')
    error_of(cp.ask, "create", kind="auth user", body={"name": "x y", "password": secrets[3]})
    cp.ask("save")
    shown = "".join(cp.ask("list", form="conf", all=True)[0]) + str(cp.ask("list", kind="auth user", form="rest")) \
        + str(cp.show("sys history"))
    hidden = "".join(cp.show("sys history", generation=row["generation"])[0]["difference"]
                     for row in cp.show("sys history"))
    cp.edit("modify", 'auth user bob password "fourth pass phrase"')
    hidden += cp.show("sys config difference")[0]["difference"]
    cp.conf.write_text(cp.conf.read_text() + "# changed by hand\n")
    hidden += error_of(cp.ask, "save")["difference"]
    assert "encrypted-password ***" in hidden and "$y$" not in hidden and hidden.count("# changed by hand") == 1
    cp.stop()
    cp.daemon.process = None
    places = {"shown": shown.encode(), "log": cp.daemon.text().encode()}
    places.update({str(path): path.read_bytes() for path in cp.run_dir.rglob("*") if path.is_file()})
    assert any(b"$y$" in content for content in places.values())
    for place, content in places.items():
        for secret in [*secrets, made["token"]]:
            assert secret.encode() not in content, place


def test_restart_keeps_users(cp):
    cp.start()
    add_user(cp, "bob", "manager", "Common")
    cp.restart(kill=True)
    assert whoami(cp, basic("bob")) == "bob"
    assert cp.ask("whoami", **{"as": basic("bob")})[1]["roles"] == [{"partition": "Common", "role": "manager"}]


def test_first_password(cp):
    path = cp.run_dir / "first-password"
    path.write_text("old")
    path.chmod(0o644)
    cp.daemon.arguments += ["--initial-password-file", str(path)]
    cp.start()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    password = path.read_text().strip()
    assert len(password) == 26 and whoami(cp, basic("admin", password)) == "admin"
    assert password not in cp.daemon.text()
    cp.restart()
    assert path.read_text().strip() == password and whoami(cp, basic("admin", password)) == "admin"
    cp.edit("modify", 'auth user admin password "my own password"')
    path.unlink()
    cp.restart()
    assert not path.exists() and whoami(cp, basic("admin", "my own password")) == "admin"


def test_admin_has_no_password_at_first(cp):
    cp.start()
    for number, password in enumerate(("admin", "", "default", "x")):
        assert _code(cp, {"user": "admin", "password": password, "address": f"192.0.2.{number}"}) in (400, 401)


CLIENT = """
import json, os, socket, struct, sys
os.setgid(65534); os.setuid(int(sys.argv[2]))
sock = socket.socket(socket.AF_UNIX)
try:
    sock.connect(sys.argv[1])
except PermissionError:
    print(json.dumps({"error": {"code": "no entry", "field": ""}})); sys.exit()
body = sys.argv[3].encode()
sock.sendall(struct.pack("!I", len(body)) + body)
print(sock.recv(65536)[4:].decode())
"""


def ask_as_uid(cp, uid, message):
    done = subprocess.run(["/usr/bin/python3", "-c", CLIENT, str(cp.run_dir / "cp.sock"), str(uid), json.dumps(message)],
                          capture_output=True, text=True, check=True, timeout=30)
    return json.loads(done.stdout)


def test_weir_mgmt_must_say_for_whom(cp):
    """Its user may connect, is nobody by itself, and no other user of the machine may anything."""
    mgmt = pwd.getpwnam("nobody").pw_uid
    for folder in (cp.run_dir, *cp.run_dir.parents):
        if folder != folder.parent and stat.S_IMODE(folder.stat().st_mode) & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o011)
    cp.daemon.arguments += ["--mgmt-user", "nobody"]
    cp.start()
    add_user(cp, "bob")
    answer = ask_as_uid(cp, mgmt, {"op": "list", "kind": "ltm pool", "form": "rest"})
    assert answer["error"]["code"] == 401 and answer["error"]["field"] == "as"
    answer = ask_as_uid(cp, mgmt, {"op": "whoami", "as": basic("bob")})
    assert answer["result"]["user"] == "bob"
    for message in ({"op": "whoami"}, {"op": "whoami", "as": basic("bob")}):
        assert ask_as_uid(cp, 12345, message)["error"]["code"] == "no entry"
    (cp.run_dir / "cp.sock").chmod(0o666)
    for message in ({"op": "whoami"}, {"op": "whoami", "as": basic("bob")}):
        assert ask_as_uid(cp, 12345, message)["error"]["code"] == 403


def test_unknown_mgmt_user(cp):
    cp.daemon.arguments += ["--mgmt-user", "no-such-user"]
    with pytest.raises(Exception, match="there is no user no-such-user"):
        cp.start()
    cp.daemon.process = None


def test_client_leaves_while_its_password_is_checked(cp):
    cp.start()
    add_user(cp, "bob")
    for number in range(40):
        with cp.connect() as sock:
            cp.send(sock, {"op": "whoami", "as": basic("bob", f"guess {number}", f"10.4.{number}.1")})
    assert whoami(cp, basic("bob")) == "bob"
    # And one who asks for more behind it is answered in order.
    with cp.connect() as sock:
        cp.send(sock, {"op": "whoami", "id": 1, "as": basic("bob", address="10.5.0.1")})
        cp.send(sock, {"op": "whoami", "id": 2, "as": basic("bob", "wrong", "10.5.0.1")})
        cp.send(sock, {"op": "show", "what": "sys version", "id": 3})
        answers = [cp.receive(sock) for _ in range(4)]
    assert [answer["id"] for answer in answers] == [1, 2, 3, 3]
    assert answers[0]["result"]["user"] == "bob" and answers[1]["error"]["code"] == 401


def weirsh(cp, *words, text=""):
    done = subprocess.run([program("weirsh"), "--run-dir", cp.run_dir, *words], input=text,
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_password_prompt_of_weirsh(cp):
    """It is not on the command line, where others would read it."""
    cp.start()
    words = ["create", "auth", "user", "bob", "prompt-for-password", "partition-access", "add",
             "{", "all-partitions", "{", "role", "guest", "}", "}"]
    assert weirsh(cp, *words, text='a "pass\\word} #\n')[0] == 0
    assert whoami(cp, basic("bob", 'a "pass\\word} #')) == "bob"
    assert weirsh(cp, "modify", "auth", "user", "bob", "prompt-for-password") == \
        (1, "weirsh: auth user: prompt-for-password: there was no password\n")
    code, errors = weirsh(cp, "modify", "auth", "user", "bob", "prompt-for-password", text="short\n")
    assert code == 1 and "has fewer than the 12 bytes of auth password-policy" in errors
    code, errors = weirsh(cp, text='create cli transaction\nmodify auth user bob password "0123456789abc"\n'
                          "modify auth user bob nonsense x\nsubmit cli transaction\n")
    assert code == 1 and "0123456789abc" not in errors


def test_password_prompt_of_weirsh_at_a_terminal(cp):
    cp.start()
    add_user(cp, "bob")
    main, other = pty.openpty()
    command = [program("weirsh"), "--run-dir", cp.run_dir, "modify", "auth", "user", "bob",
               "prompt-for-password"]
    with subprocess.Popen(command, stdin=other, stdout=other, stderr=other, close_fds=True) as process:
        seen = b""
        try:
            for prompt in (b"New password: ", b"The same again: "):
                while not seen.endswith(prompt):
                    assert select.select([main], [], [], 10)[0], seen
                    seen += os.read(main, 1000)
                os.write(main, b"typed by hand\n")
            assert process.wait(10) == 0
        finally:
            process.kill()
    os.close(other)
    os.close(main)
    assert b"typed by hand" not in seen
    assert whoami(cp, basic("bob", "typed by hand")) == "bob"


def test_a_log_out_ends_what_is_under_way(cp):
    """Who follows events by a token that is ended hears no more."""
    cp.start()
    add_user(cp, "bob")
    token = login(cp, "bob")["token"]
    with cp.connect() as sock:
        cp.send(sock, {"op": "watch", "as": by_token(token)})
        cp.ask("logout", token=token, **{"as": by_token(token)})
        answer = {}
        while "error" not in answer and "result" not in answer:
            answer = cp.receive(sock)
    assert (answer["error"]["code"], answer["error"]["field"]) == (401, "as")
