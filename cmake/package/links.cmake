# Run by CPack in what will be packed: /usr/bin/NAME.llamada, and the tools under their own names.
set(bin ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/bin)
file(MAKE_DIRECTORY ${bin})
foreach(name mpicc mpicxx mpic++ mpiCC mpif77 mpif90 mpifort mpirun mpiexec)
  file(CREATE_LINK ../lib/llamada/bin/${name} ${bin}/${name}.llamada SYMBOLIC)
endforeach()
foreach(name llamada llamanetd)
  file(CREATE_LINK ../lib/llamada/bin/${name} ${bin}/${name} SYMBOLIC)
endforeach()
