#!/usr/bin/env bash
# debian_source.sh [--upstream] PACKAGE FOLDER: unpacks the source package PACKAGE of Debian's (--upstream: the archive of
# its authors alone) below FOLDER, unless it lies there, without touching the machine's own lists of packages.
set -euo pipefail
upstream=0
if [ "$1" = --upstream ]; then upstream=1; shift; fi
package=$1 folder=$2
ls -d "$folder/$package"-*/ >/dev/null 2>&1 && exit
command -v dpkg-source >/dev/null || { echo "$package: dpkg-dev is needed to unpack the source package" >&2; exit 1; }
mkdir -p "$folder/parts" "$folder/lists/partial"
folder=$(realpath "$folder")
sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$folder/parts/source.sources"
options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder/parts"
         -o "Dir::State::lists=$folder/lists" -o APT::Sandbox::User=root)
cd "$folder"
apt-get "${options[@]}" -qq update
if [ "$upstream" -eq 1 ]; then
  apt-get "${options[@]}" -qq --tar-only source "$package" >/dev/null
  tar -xf "$package"_*.orig.tar.*
else
  apt-get "${options[@]}" -qq source "$package" >/dev/null
fi
