#!/usr/bin/env bash
# chroot.sh PACKAGE SAMPLES: a person with a new Debian installs the file PACKAGE by apt, compiles primes.c of the folder SAMPLES with
# mpicc, and runs it by mpirun as an ordinary user, with and without a kill. 77 (skipped) where this system refuses one of the
# namespaces, the mounts or chroot.
set -euo pipefail
package=$(realpath "$1") samples=$(realpath "$2")
fail() { echo "chroot.sh: $*" >&2; exit 1; }
skip() { echo "SKIPPED: package.chroot: $*"; exit 77; }

# In namespaces of its own, so that mounts and processes go with this script.
if [ -z "${LLAMADA_IN_CHROOT_TEST-}" ]; then
  [ "$(id -u)" -eq 0 ] || skip "making a chroot needs root"
  command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
  unshare --mount --pid --fork true 2>/dev/null || skip "namespaces are refused"
  LLAMADA_IN_CHROOT_TEST=1 exec unshare --mount --pid --fork --kill-child "$0" "$package" "$samples"
fi

work=$(mktemp -d)
root=$work/root
trap 'umount --recursive "$root" 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT
mkdir "$root"
mount --bind "$root" "$root" 2>/dev/null || skip "mounts are refused"

# This system's release, from where this system gets its packages.
codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
sources=()
for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.{list,sources}; do
  if [ -s "$file" ]; then sources+=("$file"); fi
done
[ -n "$codename" ] && [ ${#sources[@]} -gt 0 ] || skip "this is not a Debian with a list of sources"
apt-config dump Acquire::http Acquire::https >"$work/apt.conf"
echo "making a Debian $codename in $root"
mmdebstrap --quiet --mode=root --variant=apt --aptopt="$work/apt.conf" "$codename" "$root" "${sources[@]}" >"$work/log" 2>&1 ||
  { cat "$work/log"; fail "mmdebstrap"; }

mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
mount -t proc proc "$root/proc" 2>/dev/null || skip "a /proc of its own is refused"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
as_user() { inside setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=-all "$@"; }

apt() { inside apt-get --yes --quiet=2 "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "apt-get $*"; }; }
cp "$package" "$root/llamada.deb"
echo "installing $(basename "$package") with what it depends on"
apt update
apt install --no-install-recommends /llamada.deb
version=$(dpkg-deb --field "$package" Version)
[ "$(as_user mpirun --version)" = "mpirun (Llamada) $version" ] || fail "mpirun --version: $(as_user mpirun --version 2>&1)"
apt install --no-install-recommends gcc libc6-dev

cp -r "$samples" "$root/samples"
as_user mpicc -O2 -o /tmp/primes /samples/primes/primes.c
as_user mpicc.llamada -O2 -o /tmp/primes.llamada /samples/primes/primes.c
cmp "$root/tmp/primes" "$root/tmp/primes.llamada" || fail "mpicc is another than mpicc.llamada"
run() { # what it is, arguments of mpirun
  local what=$1
  shift
  as_user mpirun -n 4 "$@" /tmp/primes -n 200000 >"$work/output" 2>"$work/errors" ||
    { cat "$work/output" "$work/errors"; fail "$what: mpirun ended with an error"; }
  grep -q '^primes: VERIFIED' "$work/output" || { cat "$work/output" "$work/errors"; fail "$what: the answer is not verified"; }
}
run "without a kill"
cp "$work/output" "$work/undisturbed"
run "with a kill" --qos fault-tolerant --inject 'kill rank 2 in MPI_Recv 2'
grep -q '^mpirun: rank 2 is live again as incarnation 2' "$work/errors" || { cat "$work/errors"; fail "rank 2 was not replaced"; }
diff "$work/undisturbed" "$work/output" || fail "the output with a kill differs"
[ "$(as_user llamada ls 2>&1)" = "No driver of this user is running on this node." ] || fail "llamada ls: $(as_user llamada ls 2>&1)"

apt remove llamada
[ -z "$(find "$root/usr" -xtype l -lname '*llamada*')" ] || fail "removing left links"
[ ! -e "$root/usr/bin/mpirun" ] && [ ! -e "$root/usr/lib/llamada" ] || fail "removing left files"
echo "chroot.sh: ok"
