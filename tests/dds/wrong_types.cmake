# A type that no topic can have gives one short error that names it: compiles wrong_types.cpp with COMPILER and INCLUDES.
list(TRANSFORM INCLUDES PREPEND "-I")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${INCLUDES} ${CMAKE_CURRENT_LIST_DIR}/wrong_types.cpp
                RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
set(type "topic::detail::CheckedType<")
set(member "types::detail::CheckedMember<")
set(expected
  "${type}Undescribed, Undescribed>.*needs a description"
  "${type}elsewhere::Elsewhere, elsewhere::Elsewhere>.*needs a description"
  "${type}Inheriting, Inheriting>.*needs a description"
  "Class = InheritingUndescribed. Base = Undescribed.*base class is not described"
  "Class = InheritingPrivately. Base = Base.*no public base class"
  "${member}PrivateMember, [^\n]*\"a\".*LLAMADA_TYPE names a member"
  "${member}WrongName, [^\n]*\"valeu\".*LLAMADA_TYPE names a member"
  "${member}Function, .*LLAMADA_TYPE names a member"
  "Class = Pointer.*pointers and references cannot travel"
  "Class = Wide.*wide characters and strings cannot travel"
  "${type}Container, std::set<int> >.*cannot travel"
  "${type}Nested, Undescribed>.*cannot travel"
  "${type}NoDefault, void>.*needs a default constructor")
foreach(each ${expected})
  if(NOT text MATCHES "${each}")
    message(SEND_ERROR "no error of this kind: ${each}")
  endif()
endforeach()

list(LENGTH expected expected_count)
math(EXPR line_count_max "15 * ${expected_count}")
string(REGEX MATCHALL "error: " errors "${text}")
string(REGEX MATCHALL "\n" lines "${text}")
list(LENGTH errors error_count)
list(LENGTH lines line_count)
if(code EQUAL 0 OR NOT error_count EQUAL expected_count OR line_count GREATER line_count_max)
  message(SEND_ERROR "${expected_count} wrong types give ${error_count} errors in ${line_count} lines:\n${text}")
endif()
