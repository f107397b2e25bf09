# A folder of the facade finds its own headers and those of the folders below it, and none from above: looks for headers
# with COMPILER and INCLUDES, the include roots of mpi-facade/src/p2p, from a file in the folder WORK.
list(TRANSFORM INCLUDES PREPEND "-I")
function(look_for HEADER FOUND)
  file(WRITE ${WORK}/upward_include.cpp "#include \"${HEADER}\"\n")
  execute_process(COMMAND ${COMPILER} -std=c++20 -E ${INCLUDES} ${WORK}/upward_include.cpp
                  RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE text)
  if(FOUND AND NOT code EQUAL 0)
    message(SEND_ERROR "${HEADER} lies in p2p or below, and is not found:\n${text}")
  elseif(NOT FOUND AND code EQUAL 0)
    message(SEND_ERROR "${HEADER} lies above p2p, and is found")
  endif()
endfunction()

look_for(p2p/engine.hpp TRUE)
look_for(runtime/runtime.hpp TRUE)
look_for(world/world.hpp TRUE)
look_for(coll/channel.hpp FALSE)
look_for(rma/window.hpp FALSE)
look_for(lifecycle/init.hpp FALSE)
look_for(process/process.hpp FALSE)
