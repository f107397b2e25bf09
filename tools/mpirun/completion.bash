# Completion of mpirun's command line in bash. It asks the program itself, so it knows the options that there are.

# A line for each option of mpirun: its name and the words for its values, "--on-deadlock report|end".
_mpirun_options() {
  "${COMP_WORDS[0]}" --help 2>/dev/null |
    sed -n -e 's/^  \(-[^ ].*\)/\1/p' -e 's/^  Also taken: \(.*\)\.$/\1/p' |
    sed -e 's/   *[^ -].*//' -e 's/ ([^)]*)//g' | sed -e 's/, -/\n-/g' |
    sed -e 's/^-\{1,2\}\(H\|f\|ppn\|N\)$/& VALUE/' -e 's/^--mca .*/--mca NAME VALUE/'
}

# Sets `shape` to the words of that line, the name without its dashes; to nothing if $1 is no option.
_mpirun_find() {
  local name=${1#-} words
  shape=()
  while read -r -a words; do
    words[0]=${words[0]#-}
    words[0]=${words[0]#-}
    if [[ ${words[0]} == "${name#-}" ]]; then shape=("${words[@]}") && return; fi
  done < <(_mpirun_options)
}

_mpirun() {
  local current=${COMP_WORDS[COMP_CWORD]} choices= option= at
  local -a shape=()
  # Which option the current word is a value of. Behind the first word that belongs to none all is the program's.
  for ((at = 1; at < COMP_CWORD; ++at)); do
    if [[ ${COMP_WORDS[at]} != -* ]]; then return; fi
    _mpirun_find "${COMP_WORDS[at]}"
    if [[ ${COMP_WORDS[at + 1]-} == "=" ]]; then ((++at)); fi
    if [[ ${#shape[@]} -gt 1 ]]; then ((at += ${#shape[@]} - 1)); fi
    if [[ $at -ge $COMP_CWORD ]]; then option=${shape[0]-}; fi
  done
  case $option in
    '')
      if [[ $current != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -A command -- "$current")
        return
      fi
      choices=$(_mpirun_options | sed 's/ .*//')
      ;;
    qos) choices="default fault-tolerant" ;;
    inject) choices="kill stop slow memory" ;;
    *) choices=$(_mpirun_options | sed -n "s/^--\{0,1\}$option \(.*|.*\)/\1/p" | tr '|' ' ') ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
}

# Where there is nothing to choose: files.
complete -o default -F _mpirun mpirun mpiexec mpirun.llamada mpiexec.llamada
