# The CMake package llamada: target llamada::dds, the API of docs/guide.md. Needs libfmt-dev, libexpected-dev and
# libtinyxml2-dev, and a compiler for C++20.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(fmt)
find_dependency(tinyxml2)
include(${CMAKE_CURRENT_LIST_DIR}/llamadaTargets.cmake)
