# Completion of llamada's command line in bash. It asks the program itself, so it knows the commands and options that
# there are.

# The commands below "llamada $@", or nothing.
_llamada_commands() {
  "${COMP_WORDS[0]}" help "$@" 2>/dev/null | sed -n '/^Subcommands:/,$ s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# The long options of "llamada $@".
_llamada_options() {
  "${COMP_WORDS[0]}" help "$@" 2>/dev/null | sed -n 's/^  -.*/&/p' | grep -o -e '--[a-z][a-z-]*'
}

# The topics that programs of this user have now.
_llamada_topics() {
  "${COMP_WORDS[0]}" ls --json 2>/dev/null | sed -n 's/.*"topic": "\([^"\\]*\)".*/\1/p' | sort -u
}

# The jobs of this user that run now.
_llamada_jobs() {
  "${COMP_WORDS[0]}" ls --json 2>/dev/null | sed -n 's/.*"name": "\(job-[^"\\]*\)".*/\1/p'
}

_llamada() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} word choices=
  # The command and its own command, as far as they are written.
  local -a command=()
  local at
  for ((at = 1; at < COMP_CWORD; ++at)); do
    word=${COMP_WORDS[at]}
    if [[ $word == -* ]]; then continue; fi
    if [[ ${#command[@]} -lt 2 ]] && _llamada_commands "${command[@]}" | grep -q -x -F -e "$word"; then command+=("$word"); fi
  done
  if [[ $current == -* ]]; then
    choices=$(_llamada_options "${command[@]}")
  elif [[ $previous == --topic ]]; then
    choices=$(_llamada_topics)
  elif [[ ${command[0]-} == spy && $previous == spy || ${command[0]-} == why && $previous == why ]]; then
    choices="ranks $(_llamada_topics)"
  elif [[ ${command[0]-} == spy && $previous == ranks ]]; then
    choices=$(_llamada_jobs)
  else
    choices=$(_llamada_commands "${command[@]}")
  fi
  mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
}

# Where there is nothing to choose: files.
complete -o default -F _llamada llamada
