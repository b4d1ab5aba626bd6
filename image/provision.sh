# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by ./run, ./test and ./bench: is this a machine that we can use, and has it what we need?
#
# A guest's manners: nothing on the host changes but the packages that it says it installs. Their services
# are neither started now nor enabled for the next boot; services that were there before stay as they were.
# What must exist for the time of an installation is undone at its end, or at the next start if it was killed.

provision_dir=/var/lib/weir-provision # exists only while packages are being installed
provision_policy=/usr/sbin/policy-rc.d
provision_policy_mark='# placed by Weir for the time of one package installation'
provision_lists=image/packages.list
provision_lock_seconds=${WEIR_APT_LOCK_SECONDS:-900}
provision_claim=/var/lib/dpkg # its flock (apt and dpkg do not use it) is held by the one of us that installs

say()
{
    printf '%s\n' "$*"
}

refuse()
{
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 2
}

# Refuses, with the reason, a machine that cannot carry the lab.
provision_machine()
{
    local id='' version=''

    [ "$(id -u)" = 0 ] || refuse "must run as root: it makes network namespaces (try: sudo $0)"
    if [ -r /etc/os-release ]; then
        id=$(. /etc/os-release && printf %s "${ID:-}")
        version=$(. /etc/os-release && printf %s "${VERSION_ID:-}")
    fi
    [ "$id $version" = 'debian 12' ] ||
        refuse "needs Debian 12; this is '${id:-unknown} ${version}' according to /etc/os-release"
    unshare --net --mount --propagation unchanged true 2>/dev/null ||
        refuse 'this machine does not let root make network namespaces (a container without privileges?)'
    [ -c /dev/net/tun ] || refuse '/dev/net/tun is missing: the lab needs kernel taps (module tun)'
    (: <>/dev/net/tun) 2>/dev/null || refuse '/dev/net/tun cannot be opened: the lab needs kernel taps'
}

# Prints the packages of the given sets that are not there.
provision_missing()
{
    local wanted set package file

    for wanted; do
        while read -r set package file; do
            [ "$set" = "$wanted" ] || continue
            [ -z "$file" ] || [ ! -e "$file" ] || continue
            case $(dpkg-query -W -f '${db:Status-Abbrev} ' "$package" 2>/dev/null) in
            *ii*) ;;
            *) printf '%s\n' "$package" ;;
            esac
        done <"$provision_lists"
    done
}

# Prints "name (process n)" of whoever holds one of apt's locks; fails when they are free.
provision_lock_holder()
{
    local lock pid

    for lock in /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock \
        /var/cache/apt/archives/lock; do
        [ -e "$lock" ] || continue
        pid=$(awk -v inode="$(stat -c %i "$lock")" \
            '$2 == "POSIX" && $4 == "WRITE" && split($6, part, ":") == 3 && part[3] == inode { print $5; exit }' \
            /proc/locks)
        [ -n "$pid" ] || continue
        printf '%s (process %s)\n' "$(cat "/proc/$pid/comm" 2>/dev/null || echo unknown)" "$pid"
        return 0
    done
    return 1
}

provision_wait_lock()
{
    local holder told='' waited=0

    while holder=$(provision_lock_holder); do
        if [ "$holder" != "$told" ]; then
            say "waiting for apt's lock, held by $holder"
            told=$holder
        fi
        [ "$waited" -lt "$provision_lock_seconds" ] ||
            refuse "apt's lock is still held by $holder after $provision_lock_seconds s; try again later"
        sleep 1
        waited=$((waited + 1))
    done
}

provision_apt()
{
    LC_ALL=C DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get \
        -o DPkg::Lock::Timeout="$provision_lock_seconds" -o Dpkg::Use-Pty=0 \
        -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
        -o APT::Keep-Downloaded-Packages=false --no-install-recommends --no-remove "$@" </dev/null
}

# Names of the services there are, without ".service": what is not among them came with the installation.
provision_services()
{
    find /etc/init.d /lib/systemd/system /etc/systemd/system -maxdepth 1 ! -type d -printf '%f\n' 2>/dev/null |
        sed 's/\.service$//'
}

# Maintainer scripts ask policy-rc.d before they start anything. Ours refuses what is new and leaves the rest
# to the one that was there; it counts as absent once our installation, which holds the flock, is over.
provision_policy_place()
{
    if [ -e "$provision_policy" ] || [ -L "$provision_policy" ]; then
        mv "$provision_policy" "$provision_dir/policy-before"
    fi
    cat >"$provision_policy" <<POLICY
#!/bin/sh
$provision_policy_mark
for word; do
    case \$word in -*) ;; *) break ;; esac
done
if ! flock -n $provision_claim true && ! grep -qxF "\${word%.service}" $provision_dir/services; then
    exit 101
fi
[ ! -x $provision_dir/policy-before ] || exec $provision_dir/policy-before "\$@"
exit 0
POLICY
    chmod 755 "$provision_policy"
}

provision_policy_remove()
{
    if grep -qsxF "$provision_policy_mark" "$provision_policy"; then
        rm -f "$provision_policy"
    fi
    if [ -e "$provision_dir/policy-before" ] || [ -L "$provision_dir/policy-before" ]; then
        mv "$provision_dir/policy-before" "$provision_policy"
    fi
}

# Takes back what a package's scripts have enabled for the next boot, as an administrator's
# "systemctl disable" would; an upgrade of the package keeps it so.
provision_disable_services()
{
    local package file

    while read -r package; do
        dpkg-query -L "$package" 2>/dev/null
    done <"$provision_dir/packages" | while read -r file; do
        case $file in
        */systemd/system/*.* | */systemd/user/*.*)
            find /etc/systemd -type l -lname "*/${file##*/}" -delete
            ;;
        /etc/init.d/*)
            if compgen -G "/etc/rc[2345].d/S??${file##*/}" >/dev/null; then
                update-rc.d "${file##*/}" disable >/dev/null 2>&1 || true
            fi
            ;;
        esac
    done
}

# Undoes what was set up around an installation, finished or not.
provision_restore()
{
    [ -d "$provision_dir" ] || return 0
    provision_policy_remove
    [ ! -e "$provision_dir/packages" ] || provision_disable_services
    rm -rf "$provision_dir"
}

# One line per package that dpkg has begun or finished to set up, as a counter on a terminal.
provision_progress()
{
    if [ -t 1 ]; then
        awk -v all="$1" '/^(Unpacking|Setting up) / { n++; printf "\r  %d %%", n * 50 / all; fflush() }
            END { printf "\r       \r" }'
    else
        cat >/dev/null
    fi
}

# True when "apt-get update" has not run for a day (the lists' own times are the mirror's).
provision_lists_old()
{
    ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null ||
        [ -z "$(find /var/lib/apt/lists/partial -maxdepth 0 -mtime -1 2>/dev/null)" ]
}

# provision_plan PACKAGE...: what apt would do, in $provision_dir/plan.
provision_plan()
{
    provision_apt -s install "$@" >"$provision_dir/plan" 2>"$provision_dir/error"
}

# Says what will happen: how many packages, how much to fetch, how much disk. (apt-get itself tells the
# sizes only when it is about to install, and then does not ask if just the named packages are new.)
provision_announce()
{
    local new upgraded fetch disk

    new=$(grep -c '^Inst [^ ]* (' "$provision_dir/plan" || true)
    upgraded=$(grep -c '^Inst [^ ]* \[' "$provision_dir/plan" || true)
    fetch=$(provision_apt -qq -y --print-uris install "$@" 2>/dev/null |
        awk '{ bytes += $3 } END { printf "%.0f", bytes / 1e6 }')
    disk=$(sed -n 's/^Inst \([^ ]*\) (.*/\1/p' "$provision_dir/plan" |
        xargs -r apt-cache show --no-all-versions 2>/dev/null |
        awk '$1 == "Installed-Size:" { kib += $2 } END { printf "%.0f", kib * 1024 / 1e6 }')
    say "installing $new Debian packages (download $fetch MB, disk $disk MB; upgrading $upgraded) for:" "$@"
}

provision_install()
{
    local status

    mkdir -p "$provision_dir"
    trap provision_restore EXIT
    trap 'exit 130' INT TERM HUP

    provision_wait_lock
    if provision_lists_old || ! provision_plan "$@"; then
        say 'fetching the lists of packages (apt-get update)'
        provision_apt -qq update >"$provision_dir/error" 2>&1 || cat "$provision_dir/error" >&2
        provision_wait_lock
        provision_plan "$@" ||
            refuse "apt cannot install $*: $(grep -m1 '^E:' "$provision_dir/error")"
    fi
    provision_announce "$@"

    provision_services >"$provision_dir/services"
    provision_policy_place
    sed -n 's/^Inst \([^ ]*\) (.*/\1/p' "$provision_dir/plan" >"$provision_dir/packages"
    set +e
    provision_apt -y install "$@" 2>"$provision_dir/error" | tee "$provision_dir/log" |
        provision_progress "$(wc -l <"$provision_dir/packages")"
    status=${PIPESTATUS[0]}
    set -e
    if [ "$status" != 0 ]; then
        tail -n 20 "$provision_dir/log" "$provision_dir/error" >&2
        refuse "apt-get install failed with status $status"
    fi
}

# provision_packages yes|no SET...: installs what is missing of the sets; "no" only says what is missing.
provision_packages()
{
    local may_install=$1 missing

    shift
    missing=$(provision_missing "$@" | sort -u)
    if [ "$may_install" = no ]; then
        [ -z "$missing" ] || refuse 'missing packages, and --no-install was given:' $missing
        return 0
    fi
    [ -n "$missing" ] || [ -d "$provision_dir" ] || return 0

    exec 9<"$provision_claim"
    if ! flock -n 9; then
        say 'waiting for another command of ours that is installing packages'
        flock -w "$provision_lock_seconds" 9 || refuse 'another command of ours is still installing packages'
    fi
    if [ -d "$provision_dir" ]; then
        say 'finishing and undoing what an interrupted installation left behind'
        provision_wait_lock
        DEBIAN_FRONTEND=noninteractive dpkg --configure -a >/dev/null </dev/null || true
        provision_restore
    fi
    missing=$(provision_missing "$@" | sort -u)
    if [ -n "$missing" ]; then
        (provision_install $missing) || exit $?
        missing=$(provision_missing "$@" | sort -u)
        [ -z "$missing" ] || refuse 'still missing after the installation:' $missing
    fi
    exec 9<&-
}

# provision_build DIR [meson option...]: configures once, compiles what changed.
provision_build()
{
    local dir=$1 log

    shift
    log=$(mktemp)
    say "building in $dir/ ..."
    if { [ -e "$dir/build.ninja" ] || meson setup "$dir" "$@"; } >"$log" 2>&1 && ninja -C "$dir" >>"$log" 2>&1; then
        rm -f "$log"
        return 0
    fi
    tail -n 40 "$log" >&2
    rm -f "$log"
    refuse "the build in $dir/ failed"
}
