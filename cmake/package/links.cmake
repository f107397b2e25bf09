# Run by CPack in what will be packed: /usr/bin/NAME.llamada, and the tools under their own names; their man pages and
# bash completions, too.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(share lib/llamada/share)
set(completions share/bash-completion/completions)
file(MAKE_DIRECTORY ${usr}/bin ${usr}/share/man/man1 ${usr}/${completions})

# update-alternatives knows man pages as other MPIs have them: compressed.
function(add_man_page FROM TO)
  execute_process(COMMAND gzip -9 -n -c ${usr}/${share}/man/man1/${FROM}.1 OUTPUT_FILE ${usr}/share/man/man1/${TO}.1.gz
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(name mpicc mpicxx mpic++ mpiCC mpif77 mpif90 mpifort mpirun mpiexec)
  file(CREATE_LINK ../lib/llamada/bin/${name} ${usr}/bin/${name}.llamada SYMBOLIC)
endforeach()
foreach(name mpirun mpiexec)
  add_man_page(mpirun ${name}.llamada)
  file(CREATE_LINK ../../../${share}/bash-completion/completions/${name} ${usr}/${completions}/${name}.llamada SYMBOLIC)
endforeach()
foreach(name llamada llamanetd llamada-persistd)
  file(CREATE_LINK ../lib/llamada/bin/${name} ${usr}/bin/${name} SYMBOLIC)
endforeach()
file(GLOB pages RELATIVE ${usr}/${share}/man/man1 ${usr}/${share}/man/man1/llamada*.1)
foreach(page ${pages})
  string(REGEX REPLACE "\\.1$" "" name ${page})
  add_man_page(${name} ${name})
endforeach()
file(CREATE_LINK ../../../${share}/bash-completion/completions/llamada ${usr}/${completions}/llamada SYMBOLIC)
