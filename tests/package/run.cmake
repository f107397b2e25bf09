# Installs the build folder BUILD below WORK, builds a user's project against it, by CMake and by pkg-config, and runs its
# program.
file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${code}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/installed
    -DCMAKE_BUILD_TYPE=Release -DGUIDE_PROGRAM=${PROGRAM} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
run(${CMAKE_COMMAND} --build ${WORK}/build -j 1)
function(run_program PROGRAM)
  run(${PROGRAM})
  if(NOT output MATCHES "sensor 7: 21.5")
    message(FATAL_ERROR "${PROGRAM} printed:\n${output}")
  endif()
endfunction()
run_program(${WORK}/build/twenty_lines)

find_program(PKG_CONFIG pkg-config)
if(NOT PKG_CONFIG)
  message(STATUS "there is no pkg-config: llamada-dds.pc is not tried")
  return()
endif()
# As a person types it. In the GNU dialect `linux` is a macro; the path of the driver contains it.
file(RENAME ${WORK}/installed ${WORK}/on-linux)
run(sh -c "export PKG_CONFIG_PATH=${WORK}/on-linux/lib/pkgconfig
           ${LAUNCHER} c++ -std=gnu++20 -c -o ${WORK}/by_pkg_config.o ${PROGRAM} $(pkg-config --cflags llamada-dds) &&
           c++ -o ${WORK}/by_pkg_config ${WORK}/by_pkg_config.o $(pkg-config --libs llamada-dds)")
run_program(${WORK}/by_pkg_config)
