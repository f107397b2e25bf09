# The layering, held by the compiler: a module is a target with an include root of its own that sees only the
# modules it names.

add_library(llamada_options INTERFACE)
target_compile_options(llamada_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
if(LLAMADA_COVERAGE)
  # Processes that are killed leave no counts; the others of one program add theirs up.
  target_compile_options(llamada_options INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(llamada_options INTERFACE --coverage)
endif()
if(LLAMADA_SANITIZE)
  target_compile_options(llamada_options INTERFACE -fsanitize=${LLAMADA_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(llamada_options INTERFACE -fsanitize=${LLAMADA_SANITIZE})
  if(LLAMADA_SANITIZE MATCHES "undefined")
    target_compile_options(llamada_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()

# llamada_module(NAME [SOURCES ...] [DEPENDS module ...] [LINKS target ...] [INCLUDE_ROOT folder] [CRASH_POINTS])
#
# Makes the static library llamada_NAME (alias llamada::NAME) with the include root ./include from src/*.cpp and SOURCES. With
# INCLUDE_ROOT it has this root only, none for private headers, and SOURCES only. With CRASH_POINTS and LLAMADA_TESTS there is
# a second one, llamada_NAME_crash, in which LLAMADA_CRASH_POINT() is alive; it depends on the _crash variants of its dependencies where these exist.
function(llamada_module NAME)
  cmake_parse_arguments(M "CRASH_POINTS" "INCLUDE_ROOT" "SOURCES;DEPENDS;LINKS" ${ARGN})
  if(NOT M_INCLUDE_ROOT)
    file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} src/*.cpp)
    list(APPEND M_SOURCES ${sources})
  endif()
  _llamada_module_variant(llamada_${NAME} "")
  add_library(llamada::${NAME} ALIAS llamada_${NAME})
  # To optimize what UndefinedBehaviorSanitizer adds takes longer than all the rest; tests spend no time in these.
  if(LLAMADA_SANITIZE MATCHES "undefined" AND NAME MATCHES "^(qos|qos_xml|launcher)$")
    target_compile_options(llamada_${NAME} PRIVATE -O0)
  endif()
  if(M_CRASH_POINTS AND LLAMADA_TESTS)
    _llamada_module_variant(llamada_${NAME}_crash "_crash")
    target_compile_definitions(llamada_${NAME}_crash PUBLIC LLAMADA_CRASH_POINTS)
    target_compile_options(llamada_${NAME}_crash PRIVATE $<$<CONFIG:Release>:-O1>)  # built faster
    add_library(llamada::${NAME}_crash ALIAS llamada_${NAME}_crash)
  endif()
endfunction()

macro(_llamada_module_variant TARGET SUFFIX)
  add_library(${TARGET} STATIC ${M_SOURCES})
  if(M_INCLUDE_ROOT)
    target_include_directories(${TARGET} PUBLIC ${M_INCLUDE_ROOT})
  else()
    target_include_directories(${TARGET} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                         PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  endif()
  target_link_libraries(${TARGET} PUBLIC $<BUILD_INTERFACE:llamada_options> ${M_LINKS})
  foreach(dependency ${M_DEPENDS})
    if(TARGET llamada_${dependency}${SUFFIX})
      target_link_libraries(${TARGET} PUBLIC llamada_${dependency}${SUFFIX})
    elseif(NOT TARGET llamada_${dependency})
      message(FATAL_ERROR "${TARGET} depends on ${dependency}, which is not below it: no module of this name stands before it")
    else()
      target_link_libraries(${TARGET} PUBLIC llamada_${dependency})
    endif()
  endforeach()
endmacro()

# llamada_install_modules(NAME ...)
#
# Installs modules, all that they depend on must be among them, with their headers below include/llamada, as targets
# llamada::NAME of the CMake package llamada.
function(llamada_install_modules)
  foreach(module ${ARGN})
    get_target_property(folder llamada_${module} SOURCE_DIR)
    set_target_properties(llamada_${module} PROPERTIES EXPORT_NAME ${module})
    target_include_directories(llamada_${module} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/llamada>)
    install(TARGETS llamada_${module} EXPORT llamadaTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY ${folder}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/llamada)
  endforeach()
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/llamada)
  install(EXPORT llamadaTargets NAMESPACE llamada:: DESTINATION ${package})
  include(CMakePackageConfigHelpers)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/llamadaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_SOURCE_DIR}/cmake/llamadaConfig.cmake ${CMAKE_BINARY_DIR}/llamadaConfigVersion.cmake
          DESTINATION ${package})
endfunction()

# llamada_test(NAME SOURCES ... [ALONE source ...] LINKS target ... [LABELS label ...] [TIMEOUT seconds] [PRIVATE_INCLUDES dir ...])
#
# A Catch2 program, run by ctest as one test. LABELS choose the runs it belongs to: unit, conformance, threads
# (also under ThreadSanitizer), crash, mpi, sim. The target tests_LABEL builds all of a label. In a unity build the sources
# of ALONE, which have local names in common with others of the program, are compiled each for itself.
function(llamada_test NAME)
  if(NOT LLAMADA_TESTS)
    return()
  endif()
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;ALONE;LINKS;LABELS;PRIVATE_INCLUDES" ${ARGN})
  add_executable(${NAME} ${T_SOURCES} ${T_ALONE})
  set_source_files_properties(${T_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_include_directories(${NAME} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support ${T_PRIVATE_INCLUDES})
  target_link_libraries(${NAME} PRIVATE llamada_options llamada_test_main ${T_LINKS})
  if("unit" IN_LIST T_LABELS)
    target_compile_options(${NAME} PRIVATE $<$<CONFIG:Release>:-O1>)  # built faster, and run once
  endif()
  add_test(NAME ${NAME} COMMAND ${NAME})
  foreach(label ${T_LABELS})
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${NAME})
  endforeach()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "${T_LABELS}")
endfunction()

# llamada_test_on_nodes(NAME)
#
# A test whose jobs of ranks ask ranks_per_node() (tests/support/nodes.hpp), once more with every rank on a node
# of its own, and with two on each. LINKS ...: the jobs ask job_links(), too (tests/support/job_links.hpp), and
# run once more with each of these links between the nodes.
function(llamada_test_on_nodes NAME)
  if(NOT LLAMADA_TESTS)
    return()
  endif()
  cmake_parse_arguments(N "" "" "LINKS" ${ARGN})
  get_test_property(${NAME} LABELS labels)
  list(REMOVE_ITEM labels threads)  # under ThreadSanitizer one distance is enough
  get_test_property(${NAME} TIMEOUT timeout)
  foreach(ranks 1 2)
    add_test(NAME ${NAME}.ranks_per_node_${ranks} COMMAND ${NAME})
    set_tests_properties(${NAME}.ranks_per_node_${ranks} PROPERTIES
      TIMEOUT ${timeout} LABELS "${labels}" ENVIRONMENT LLAMADA_TEST_RANKS_PER_NODE=${ranks})
    foreach(links ${N_LINKS})
      add_test(NAME ${NAME}.ranks_per_node_${ranks}_${links} COMMAND ${NAME})
      set_tests_properties(${NAME}.ranks_per_node_${ranks}_${links} PROPERTIES
        TIMEOUT ${timeout} LABELS "${labels}"
        ENVIRONMENT "LLAMADA_TEST_RANKS_PER_NODE=${ranks};LLAMADA_TEST_LINKS=${links}")
    endforeach()
  endforeach()
endfunction()
