#!/usr/bin/env bash
# deb.sh BUILD WORK SOURCE: packs the build folder BUILD, installs the package below WORK as dpkg does, beside other MPIs'
# alternatives, uses it there, and removes it. 77 (skipped) for who is not root: dpkg gives files their owners.
set -euo pipefail
build=$1 work=$2 source=$3
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: package.deb: installing a package needs root"; exit 77; }
fail() { echo "deb.sh: $*"; exit 1; }
rm -rf "$work"
root=$work/root
mkdir -p "$root"/var/lib/dpkg/{info,updates,alternatives} "$root"/{etc/alternatives,var/log,usr/bin,usr/share,tmp}
touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available" "$root/usr/share/of-others"
(cd "$build" && cpack -G DEB -B "$work/package") >"$work/log" 2>&1 || { cat "$work/log"; fail "cpack"; }
package=$(echo "$work"/package/*.deb)
dpkg-deb --info "$package" | grep 'Depends:.*libc6' >/dev/null || fail "the package does not say what it depends on"

# As Debian's packages do.
alternatives() { update-alternatives --root "$root" --log /dev/null --quiet "$@"; }
for other in mpich:40 openmpi:50; do
  name=${other%:*}
  for file in mpicc mpicxx mpifort mpirun mpiexec; do : >"$root/usr/bin/$file.$name"; done
  alternatives --install /usr/bin/mpicc mpi "/usr/bin/mpicc.$name" "${other#*:}" --slave /usr/bin/mpicxx mpicxx "/usr/bin/mpicxx.$name" \
    --slave /usr/bin/mpiCC mpiCC "/usr/bin/mpicxx.$name" --slave /usr/bin/mpifort mpifort "/usr/bin/mpifort.$name"
  alternatives --install /usr/bin/mpirun mpirun "/usr/bin/mpirun.$name" "${other#*:}" --slave /usr/bin/mpiexec mpiexec "/usr/bin/mpiexec.$name"
done
state() { find "$root/etc/alternatives" "$root/usr/bin" "$root/usr/share" -type l -printf '%P %l\n' | sort; }
state >"$work/before"

installer() { dpkg --root="$root" --log=/dev/null --force-depends --force-script-chrootless "$@" >>"$work/log" 2>&1 || { cat "$work/log"; fail "dpkg $*"; }; }
installer -i "$package"
[ "$(readlink "$root/etc/alternatives/mpi")" = /usr/bin/mpicc.openmpi ] || fail "installing changed mpicc"
[ "$(readlink "$root/etc/alternatives/mpirun")" = /usr/bin/mpirun.openmpi ] || fail "installing changed mpirun"
alternatives --query mpi | grep '^Alternative: /usr/bin/mpicc.llamada' >/dev/null || fail "mpi has no llamada"
alternatives --set mpi /usr/bin/mpicc.llamada
alternatives --set mpirun /usr/bin/mpirun.llamada
for name in mpicc:mpi mpicxx:mpicxx mpic++:mpic++ mpiCC:mpiCC mpif77:mpif77 mpif90:mpif90 mpifort:mpifort mpirun:mpirun mpiexec:mpiexec; do
  [ "$(readlink "$root/usr/bin/${name%:*}")" = "/etc/alternatives/${name#*:}" ] || fail "there is no ${name%:*}"
  target=$(readlink "$root/etc/alternatives/${name#*:}")
  [ -x "$root$target" ] || fail "$target of ${name%:*} is not there"
done
for page in mpirun mpiexec llamada llamada-doctor llamada-inject llamada-ls llamada-why; do
  file=$(readlink "$root/etc/alternatives/$page.1.gz" || echo "/usr/share/man/man1/$page.1.gz")
  zcat "$root$file" | grep '^[.]TH' >/dev/null || fail "there is no man page of $page"
done
for completed in mpirun mpiexec llamada; do
  script=$root/usr/share/bash-completion/completions/$completed
  [ $completed = llamada ] || script=$script.llamada
  [ -s "$script" ] || fail "there is no completion of $completed"
done

# What was installed works from where it lies.
"$root/usr/bin/mpicc.llamada" -o "$work/in_c" "$source/program.c"
"$root/usr/bin/mpifort.llamada" -o "$work/in_fortran" -J "$work" "$source/program.f90"
for program in in_c in_fortran; do
  [ "$("$root/usr/bin/mpiexec.llamada" -n 3 --qos fault-tolerant "$work/$program")" = "sum 3" ] || fail "$program does not say 'sum 3'"
done
readelf -d "$work/in_c" | grep "$root/usr/lib/llamada/lib" >/dev/null || fail "in_c does not know where libmpi lies"
readelf -d "$root/usr/lib/llamada/bin/mpirun" | grep -e RPATH -e RUNPATH >/dev/null && fail "mpirun knows the build folder"
"$root/usr/bin/llamada" --help >/dev/null || fail "llamada"

installer -r llamada
state | diff "$work/before" - >"$work/difference" || { cat "$work/difference"; fail "removing did not restore the alternatives"; }
[ -z "$(find "$root/usr/lib/llamada" ! -type d 2>/dev/null)" ] || fail "removing left files"
echo "deb.sh: ok"
