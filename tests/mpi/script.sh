# What the scripts that run an MPI program share, each "NAME.sh MPIRUN PROGRAM": sourced by them.
set -u
mpirun=$1 program=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# fail TEXT: shows the last run, too, and lets the script go on to its `exit "$failed"`.
fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*"
  cat "$folder/out" "$folder/messages"
  failed=1
}

# profile NAME BYTES BYTES: a profile that keeps histories, with so much for the logs, and so much of it at the start.
profile() {
  local keeps='<reliability><kind>RELIABLE</kind></reliability><durability><kind>TRANSIENT_LOCAL</kind></durability>
    <history><kind>KEEP_ALL</kind></history>'
  printf '<dds><qos_library name="test"><qos_profile name="%s"><datawriter_qos>%s</datawriter_qos>
    <datareader_qos>%s</datareader_qos><rank_replacement><kind>REBUILD</kind><log_bytes_per_node>%s</log_bytes_per_node>
    <log_bytes_at_start>%s</log_bytes_at_start></rank_replacement></qos_profile></qos_library></dds>' \
    "$1" "$keeps" "$keeps" "$2" "$3" >"$folder/$1.xml"
}
