#!/usr/bin/env python3
"""Writes the Fortran bindings of MPI from mpi.h, mpi-ext.h and bindings.table.

usage: generate.py MPI_H MPI_EXT_H BINDINGS_TABLE FOLDER

Into FOLDER go bindings.c (the functions that Fortran calls), by_hand_names.h, mpif.h (valid in fixed and in free form), mpi.f90 (the
module mpi) and mpi_f08.f90 (the module mpi_f08); of mpi-ext.h mpif-ext.h and mpi_ext.f90 (the modules mpi_ext and mpi_f08_ext). A
function with a parameter that no rule covers is an error: there is no function of C without one of Fortran.
"""
import pathlib
import re
import sys

import f08

HANDLES = ("Comm", "Group", "Datatype", "Errhandler", "Op", "Info", "Request", "Message", "Win", "Session", "File")
INTEGERS = {"int": "MPI_Fint", **{f"MPI_{kind}": f"MPI_{kind}" for kind in HANDLES},
            "MPI_Aint": "MPI_Aint", "MPI_Count": "MPI_Count", "MPI_Offset": "MPI_Offset"}
# With large counts, but with the kinds of Fortran's plain functions.
SAME_IN_FORTRAN = ("Type_create_resized_c", "Type_get_extent_c", "Type_get_true_extent_c")
KINDS = {"MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Count": "MPI_COUNT_KIND", "MPI_Offset": "MPI_OFFSET_KIND"}


class Parameter:
    """A parameter in C's words: its type without const and stars, and what it is."""

    def __init__(self, text):
        match = re.fullmatch(r"(const )?([\w ]+?)\s*(\**)\s*(\w+)((?:\[\d*\])*)", " ".join(text.split()))
        if not match:
            sys.exit(f"generate.py: no parameter: '{text}'")
        const, self.type, stars, self.name, brackets = match.groups()
        self.const = bool(const)
        self.stars = len(stars)
        self.brackets = brackets
        self.kind = ""      # what bindings.table says of it
        self.count = ""
        self.logical = False
        self.fortran_name = self.name

    @property
    def is_array(self):
        return bool(self.brackets) or (self.type == "MPI_Status" and self.name == "statuses")

    @property
    def is_callback(self):
        return self.type == "External" or self.type.endswith(("_function", "_fn"))


class Function:
    def __init__(self, result, name, parameters, prefix="MPI"):
        self.result, self.name, self.prefix = result, name, prefix
        self.parameters = [Parameter(part) for part in parameters.split(",") if part.strip() not in ("", "void", "...")]
        self.by_hand = False

    @property
    def is_large(self):
        """A function with large counts (MPI 4.0): in Fortran only mpi_f08 has it, under the plain generic name."""
        return self.name.endswith("_c")

    @property
    def base_name(self):
        return self.name[:-len("_c")] if self.is_large else self.name


class Table:
    def __init__(self, path):
        self.names, self.logical, self.constants, self.hand, self.kinds = {}, set(), [], {}, {}
        self.arguments = {}
        for line in path.read_text().splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "name":
                self.names[words[1]] = words[2]
            elif words[0] == "logical":
                self.logical.add(words[1])
            elif words[0] == "arguments":
                self.arguments[words[1]] = words[2:]
            elif words[0] == "constant":
                self.constants.append((words[1], int(words[2])))
            elif words[0] == "hand":
                name, parameters = re.fullmatch(r"hand (\w+)\((.*)\)", " ".join(words)).groups()
                self.hand[name] = Function("int", name, parameters)
                self.hand[name].by_hand = True
            else:
                for word in words[1:]:
                    parameter, kind, count = re.fullmatch(r"(\w+):(\w+)(?:\((\w+)\))?", word).groups()
                    self.kinds[words[0], parameter] = (kind, count or "")

    def apply(self, functions):
        names = {function.name for function in functions}
        for name in set(self.hand) | {function for function, _ in self.kinds}:
            if name not in names:
                sys.exit(f"generate.py: bindings.table knows {name}, mpi.h and mpi-ext.h do not")
        functions = [self.hand.get(function.name, function) for function in functions]
        for function in functions:
            for parameter in function.parameters:
                parameter.kind, parameter.count = self.kinds.get((function.name, parameter.name), ("", ""))
                parameter.logical = parameter.type == "int" and parameter.name in self.logical and parameter.kind != "integer"
                parameter.fortran_name = self.names.get(parameter.name, parameter.name)
            self.name_arguments(function)
        return functions

    def name_arguments(self, function):
        names = self.arguments.get(function.name, self.arguments.get(function.base_name))
        if names is None:
            return
        if len(names) != len(function.parameters):
            sys.exit(f"generate.py: bindings.table names {len(names)} arguments of MPI_{function.name}, mpi.h others")
        for parameter, name in zip(function.parameters, names):
            parameter.fortran_name = name


def functions_of(header, prefix="MPI"):
    """The functions of a header in their order; results other than int, double and addresses are not known."""
    prototype = rf"LLAMADA_MPI_PUBLIC (int|double|MPI_Aint) {prefix}_(\w+)\(([^;]*?)\);"
    return [Function(*match, prefix) for match in re.findall(prototype, header)
            if not match[1].endswith(("_f2c", "_c2f", "_f082c", "_c2f08", "_f082f", "_f2f08"))
            and not match[1].startswith("T_") and match[1] not in SAME_IN_FORTRAN]


def constants_of(header, prefix="MPI"):
    """(name, type or '', value) of each constant that is a number, Fortran's values."""
    found = []
    for name, kind, number in re.findall(
            rf"^#define ({prefix}_[A-Z0-9][A-Z0-9_]*) \(*(?:\((MPI_\w+)\))?\s*(-?(?:0x[0-9a-fA-F]+|\d+))\)*$", header, re.M):
        value = int(number, 0)
        if value >= 1 << 31:
            value -= 1 << 32
        if value >> 16 in (0x6440, 0x6600):  # predefined attributes: Fortran's keys give values, C's pointers
            value += 1
        if name.startswith("MPI_MAX_"):  # lengths without the NUL
            value -= 1
        found.append((name, kind, value))
    values = {name: (kind, value) for name, kind, value in found}
    for name, other in re.findall(r"^#define (MPI_[A-Z0-9][A-Z0-9_]*) (MPI_[A-Z0-9][A-Z0-9_]*)$", header, re.M):
        if other in values:
            found.append((name, *values[other]))
    return found


# --- bindings.c -----------------------------------------------------------------------------------------------------

def c_parameter(function, parameter):
    """(declaration, argument, before, after, hidden) of one parameter of a wrapper."""
    name, kind = parameter.name, parameter.type
    const = "const " if parameter.const else ""
    if parameter.kind == "index":
        return (f"MPI_Fint* {name}", f"&{name}_c", f"int {name}_c = MPI_UNDEFINED;",
                f"*{name} = {name}_c == MPI_UNDEFINED ? MPI_UNDEFINED : {name}_c + 1;", "")
    if parameter.kind == "indices":
        return (f"MPI_Fint* {name}", name, "",
                f"for (int i = 0; code_c == MPI_SUCCESS && i < *{parameter.count}; i++) {name}[i]++;", "")
    if parameter.kind == "narrow":
        return (f"MPI_Fint* {name}", f"&{name}_c", f"MPI_Aint {name}_c = 0;",
                f"if (code_c == MPI_SUCCESS) code_c = llamada_fortran_narrow({name}_c, {name});", "")
    if parameter.kind == "widen" and not parameter.count:
        return f"const MPI_Fint* {name}", f"*{name}", "", "", ""
    if parameter.kind == "widen":
        return (f"const MPI_Fint* {name}", f"{name}_c",
                f"MPI_Aint* {name}_c = llamada_fortran_widen({name}, *{parameter.count});", f"free({name}_c);", "")
    if parameter.kind == "weights":
        return f"{const}MPI_Fint* {name}", f"llamada_fortran_weights({name})", "", "", ""
    if parameter.is_callback:
        return f"{kind}* {name}", name, "", "", ""
    if kind == "void":
        return f"{const}void* {name}", f"llamada_fortran_choice({name})", "", "", ""
    if kind == "MPI_Status":
        return f"{const}MPI_Status* {name}", f"llamada_fortran_status({name})", "", "", ""
    if kind == "char" and parameter.const:
        return (f"const char* {name}", f"{name}_c", f"char* {name}_c = llamada_fortran_text({name}, {name}_size);",
                f"free({name}_c);", f"size_t {name}_size")
    if kind == "char":
        return (f"char* {name}", f"{name}_c",
                f"char {name}_c[MPI_MAX_LIBRARY_VERSION_STRING]; llamada_fortran_take({name}, {name}_size, {name}_c);",
                f"llamada_fortran_give({name}_c, {name}, {name}_size);", f"size_t {name}_size")
    if kind == "MPI_File" and parameter.stars:
        return (f"MPI_Fint* {name}", f"&{name}_c", f"MPI_File {name}_c = MPI_File_f2c(*{name});",
                f"if (code_c == MPI_SUCCESS) *{name} = MPI_File_c2f({name}_c);", "")
    if kind == "MPI_File":
        return f"const MPI_Fint* {name}", f"MPI_File_f2c(*{name})", "", "", ""
    if kind in INTEGERS and parameter.brackets == "[][3]":
        return f"MPI_Fint {name}[][3]", name, "", "", ""
    if kind in INTEGERS and (parameter.stars or parameter.brackets):
        return f"{const}{INTEGERS[kind]}* {name}", f"{name}", "", "", ""
    if kind in INTEGERS:
        return f"const {INTEGERS[kind]}* {name}", f"*{name}", "", "", ""
    sys.exit(f"generate.py: no rule for the parameter {name} of MPI_{function.name}")


def aliases(name, f08_suffix=None, prefix="MPI"):
    """The names that compilers give to MPI_name and PMPI_name, and with a suffix those of mpi_f08: all for one function."""
    lower, small = name.lower(), prefix.lower()
    names = [f"{before}_{spelling}" for before, spellings in
             ((small, (lower, lower + "_", lower + "__")), (f"p{small}", (lower, lower + "__")),
              (prefix, (name.upper(),)), (f"P{prefix}", (name.upper(),))) for spelling in spellings]
    names += [f"{before}_{lower}_{f08_suffix}_" for before in (small, f"p{small}r")] if f08_suffix else []
    return "\n".join(f'__asm__(".weak {alias}\\n.set {alias}, p{small}_{lower}_");' for alias in names)


def large_aliases(function):
    """The names in mpi_f08 of a function with large counts and without a choice buffer."""
    return "\n".join(f'__asm__(".weak {alias}\\n.set {alias}, pmpi_{function.name.lower()}_");'
                     for alias in (f"{prefix}_{function.base_name.lower()}_f08_large_" for prefix in ("mpi", "pmpir")))


def c_function(function):
    parts = [c_parameter(function, parameter) for parameter in function.parameters]
    declarations = [part[0] for part in parts]
    arguments = ", ".join(part[1] for part in parts)
    call = f"{function.prefix}_{function.name}({arguments})"
    symbol = f"p{function.prefix.lower()}_{function.name.lower()}_"
    if function.result != "int":
        return f"{function.result} {symbol}({', '.join(declarations) or 'void'}) {{ return {call}; }}\n"
    declarations += ["MPI_Fint* ierror"] + [part[4] for part in parts if part[4]]
    lines = [f"void {symbol}({', '.join(declarations)}) {{"]
    lines += [f"  {part[2]}" for part in parts if part[2]]
    lines += [f"  int code_c = {call};"]
    lines += [f"  {part[3]}" for part in parts if part[3]]
    lines += ["  if (ierror) *ierror = code_c;", "}"]
    return "\n".join(lines) + "\n"


def bindings(functions):
    text = ["/* Written by generate.py. */", '#include "sections.h"', "#include <mpi-ext.h>", "#include <stdlib.h>",
            "#pragma GCC visibility push(default)"]
    for function in functions:
        if not function.by_hand:
            has_choice = f08.has_choice(function)
            text += [c_function(function)]
            if not function.is_large:
                text += [aliases(function.name, None if has_choice else "f08", function.prefix)]
            elif not has_choice:
                text += [large_aliases(function)]
            text += [f08.c_function(function, c_parameter)] if has_choice else []
    return "\n".join(text + comparisons()) + "\n"


def comparisons():
    """What programs built with MPICH's mpi_f08 call where they compare handles."""
    lines = ["int llamada_handles_equal(const MPI_Fint* a, const MPI_Fint* b) { return *a == *b; }",
             "int llamada_handles_differ(const MPI_Fint* a, const MPI_Fint* b) { return *a != *b; }"]
    for kind in HANDLES:
        for word, function in (("eq", "equal"), ("neq", "differ")):
            for name in (word, f"f08_{word}_f", f"f_{word}_f08"):
                symbol = f"__mpi_f08_types_MOD_mpi_{kind.lower()}_{name}"
                lines.append(f'__asm__(".globl {symbol}\\n.set {symbol}, llamada_handles_{function}");')
    return lines


def by_hand_names(functions):
    """The names of what is written by hand, to be included behind it."""
    lines = [aliases(function.name, None if function.name == "Buffer_detach" else "f08")
             for function in functions if function.by_hand]
    names = ["null_copy_fn", "null_delete_fn", "dup_fn", "comm_null_copy_fn", "comm_null_delete_fn", "comm_dup_fn",
              "type_null_copy_fn", "type_null_delete_fn", "type_dup_fn",
              "win_null_copy_fn", "win_null_delete_fn", "win_dup_fn", "conversion_fn_null"]
    lines += [aliases(name) for name in names] + [aliases("f_sync_reg", "f08ts")]
    return "/* Written by generate.py. */\n" + "\n".join(lines) + "\n"


# --- mpif.h and the modules -----------------------------------------------------------------------------------------

SPECIALS = """
       INTEGER MPI_BOTTOM, MPI_IN_PLACE
       INTEGER MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
       INTEGER MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)
       INTEGER MPI_ERRCODES_IGNORE(1)
       INTEGER MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY
       CHARACTER*1 MPI_ARGVS_NULL(1,1), MPI_ARGV_NULL(1)
       COMMON /MPIPRIV1/ MPI_BOTTOM,MPI_IN_PLACE,MPI_STATUS_IGNORE
       COMMON /MPIPRIV2/ MPI_STATUSES_IGNORE,MPI_ERRCODES_IGNORE
       COMMON /MPIPRIVC/ MPI_ARGVS_NULL, MPI_ARGV_NULL
       COMMON /MPIFCMB5/ MPI_UNWEIGHTED
       COMMON /MPIFCMB9/ MPI_WEIGHTS_EMPTY
       SAVE /MPIPRIV1/,/MPIPRIV2/,/MPIPRIVC/,/MPIFCMB5/,/MPIFCMB9/
""".strip("\n")
CALLBACKS = ("MPI_NULL_COPY_FN", "MPI_NULL_DELETE_FN", "MPI_DUP_FN", "MPI_COMM_NULL_COPY_FN",
             "MPI_COMM_NULL_DELETE_FN", "MPI_COMM_DUP_FN", "MPI_TYPE_NULL_COPY_FN", "MPI_TYPE_NULL_DELETE_FN",
             "MPI_TYPE_DUP_FN", "MPI_WIN_NULL_COPY_FN", "MPI_WIN_NULL_DELETE_FN", "MPI_WIN_DUP_FN",
             "MPI_CONVERSION_FN_NULL")


def parameters(constants):
    """Valid in fixed and in free form."""
    lines = []
    for name, value in constants:
        kind = "INTEGER*8" if name == "MPI_DISPLACEMENT_CURRENT" else "INTEGER"
        lines += [f"       {kind} {name}", f"       PARAMETER ({name}={value})"]
    return lines


def integer_constants(constants):
    lines = parameters(constants)
    lines += ["       LOGICAL MPI_SUBARRAYS_SUPPORTED", "       PARAMETER (MPI_SUBARRAYS_SUPPORTED=.FALSE.)",
              "       LOGICAL MPI_ASYNC_PROTECTS_NONBLOCKING", "       PARAMETER (MPI_ASYNC_PROTECTS_NONBLOCKING=.FALSE.)"]
    return lines


def all_constants(table, constants):
    return table.constants + [(name, value) for name, _, value in constants]


def mpif(functions, table, constants):
    lines = ["! Llamada's mpif.h: MPI 3.1 for Fortran, in fixed and in free form. Written by generate.py."]
    lines += integer_constants(all_constants(table, constants))
    lines += [SPECIALS]
    for name in CALLBACKS:
        lines.append(f"       EXTERNAL {name}")
    for function in functions:
        if function.result == "int":
            continue
        kind = "DOUBLE PRECISION" if function.result == "double" else "INTEGER*8"
        for prefix in ("MPI_", "PMPI_"):
            name = (prefix + function.name).upper()
            lines += [f"       EXTERNAL {name}", f"       {kind} {name}"]
    long = [line for text in lines for line in text.splitlines() if len(line) > 72 and line[0] != "!"]
    if long:
        sys.exit(f"generate.py: too long for fixed form: {long}")
    return "\n".join(lines) + "\n"


def fortran_declaration(parameter, lenient):
    """The declaration of a dummy argument in the module mpi; lenient: a scalar may stand for an array, and the other way round."""
    name = parameter.fortran_name
    if parameter.is_callback:
        return [f"EXTERNAL {name}"]
    unchecked = [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}"]
    if parameter.type == "void":
        return unchecked + [f"TYPE(*), DIMENSION(*) :: {name}"]
    if parameter.type == "char":
        return [f"CHARACTER(LEN=*) :: {name}{character_shape(parameter)}"]
    if parameter.type == "MPI_Status":
        return [f"INTEGER :: {name}(MPI_STATUS_SIZE{',*' if parameter.is_array else ''})"]
    kind = integer_kind(parameter)
    if parameter.brackets == "[][3]":
        return [f"{kind} :: {name}(3,*)"]
    if lenient and parameter.brackets:
        return unchecked + [f"{kind} :: {name}(*)"]
    if lenient and parameter.type == "MPI_Datatype":
        return unchecked + [f"{kind} :: {name}"]
    is_input = not parameter.stars and not parameter.brackets
    return [f"{kind}{', INTENT(IN)' if is_input else ''} :: {name}{'(*)' if parameter.is_array else ''}"]


def character_shape(parameter):
    """Of strings: one; a list; a list for each of `count` commands."""
    return {"": "", "[]": "(*)", "[][]": "(count,*)"}[parameter.brackets]


def integer_kind(parameter):
    """The type of what is a number or a truth."""
    if parameter.logical:
        return "LOGICAL"
    if parameter.kind in ("narrow", "widen") or parameter.type not in KINDS:
        return "INTEGER"
    return f"INTEGER(KIND={KINDS[parameter.type]})"


def procedure_head(word, name, arguments, suffix=""):
    lines = [f"{word} {name}( &"]
    lines += [f"  {argument}{',' if index + 1 < len(arguments) else ''} &" for index, argument in enumerate(arguments)]
    return lines + [f"){suffix}"]


def indented(lines):
    return ["  " + line if not line.startswith("!GCC$") else line for line in lines]


def interface(prefix, function):
    name = prefix + function.name
    arguments = [parameter.fortran_name for parameter in function.parameters]
    is_function = function.result != "int"
    word = "FUNCTION" if is_function else "SUBROUTINE"
    if not is_function:
        arguments.append("ierror")
    lines = procedure_head(word, name, arguments)
    lines += ["IMPORT", "IMPLICIT NONE"]
    # Beside MPI_IN_PLACE, and at other ranks than the root, counts and displacements are ignored: programs pass a 0.
    lenient = any(parameter.type == "void" for parameter in function.parameters)
    for parameter in function.parameters:
        lines += fortran_declaration(parameter, lenient)
    lines.append(result_declaration(function, name) if is_function else "INTEGER :: ierror")
    lines.append(f"END {word} {name}")
    return indented(lines)


def result_declaration(function, name):
    return f"DOUBLE PRECISION :: {name}" if function.result == "double" else f"INTEGER(KIND=MPI_ADDRESS_KIND) :: {name}"


def interfaces(functions):
    lines = ["interface"]
    for function in functions:
        for prefix in (f"{function.prefix}_", f"P{function.prefix}_"):
            lines += interface(prefix, function)
    return lines + ["end interface"]


SIZED = [f"integer({kind})" for kind in (1, 2, 4, 8)] + [f"{kind}({size})" for kind in ("real", "complex")
                                                         for size in (4, 8, 10, 16)] + ["logical(4)", "character(*)"]


def sizeof_interface():
    """MPI_Sizeof (MPI 3.1, 17.1.9) for each intrinsic type, of any rank."""
    names = [re.sub(r"\W", "", kind) for kind in SIZED]
    return ["interface MPI_Sizeof"] + [f"  module procedure sizeof_{name}" for name in names] + ["end interface"] + \
        [f"private :: sizeof_{name}" for name in names]


def sizeof_procedures(optional):
    lines = []
    for kind in SIZED:
        name = "sizeof_" + re.sub(r"\W", "", kind)
        lines += [f"subroutine {name}(x, size, ierror)", f"  {kind}, intent(in) :: x(..)",
                  "  integer, intent(out) :: size", f"  integer, {'optional, ' if optional else ''}intent(out) :: ierror",
                  "  size = storage_size(x) / 8",
                  f"  {'if (present(ierror)) ' if optional else ''}ierror = MPI_SUCCESS", f"end subroutine {name}"]
    return lines


def module_mpi(functions, table, constants):
    lines = ["! The module mpi. Written by generate.py.", "module mpi", "implicit none"]
    lines += integer_constants(all_constants(table, constants))
    # The interfaces want an array.
    lines += [SPECIALS.replace("MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY", "MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)")]
    lines += [f"external {name}" for name in CALLBACKS]
    lines += sizeof_interface() + interfaces(functions)
    lines += ["contains"] + sizeof_procedures(False)
    return "\n".join(lines + ["end module mpi"]) + "\n"


STATUS_CONVERSIONS = [line for prefix in ("MPI_", "PMPI_") for line in f"""
subroutine {prefix}Status_f2f08(f_status, f08_status, ierror)
  integer, intent(in) :: f_status(MPI_STATUS_SIZE)
  type(MPI_Status), intent(out) :: f08_status
  integer, optional, intent(out) :: ierror
  f08_status = transfer(f_status, f08_status)
  if (present(ierror)) ierror = MPI_SUCCESS
end subroutine {prefix}Status_f2f08
subroutine {prefix}Status_f082f(f08_status, f_status, ierror)
  type(MPI_Status), intent(in) :: f08_status
  integer, intent(out) :: f_status(MPI_STATUS_SIZE)
  integer, optional, intent(out) :: ierror
  f_status = transfer(f08_status, f_status)
  if (present(ierror)) ierror = MPI_SUCCESS
end subroutine {prefix}Status_f082f
""".strip().splitlines()]
SYNC_REG = """
interface MPI_F_sync_reg
  subroutine MPI_F_sync_reg_f08ts(buf)
    TYPE(*), DIMENSION(..), ASYNCHRONOUS :: buf
  end subroutine MPI_F_sync_reg_f08ts
end interface
""".strip().splitlines()


def module_f08(functions, table, constants):
    lines = ["! The module mpi_f08. Written by generate.py.", "module mpi_f08",
             "use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_char, c_size_t", "implicit none",
             "private :: c_int, c_ptr, c_char, c_size_t"]
    lines += integer_constants(table.constants + [(name, value) for name, kind, value in constants if not kind])
    for kind in HANDLES:
        lines += [f"type, bind(C) :: MPI_{kind}", "  integer(c_int) :: MPI_VAL", f"end type MPI_{kind}"]
    lines += ["type, bind(C) :: MPI_Status", "  integer(c_int) :: count_lo, count_hi_and_cancelled",
              "  integer(c_int) :: MPI_SOURCE, MPI_TAG, MPI_ERROR", "end type MPI_Status"]
    lines += [f"type({kind}), parameter :: {name} = {kind}({value})" for name, kind, value in constants if kind]
    for name in ("MPI_BOTTOM", "MPI_IN_PLACE"):
        lines.append(f'integer(c_int), bind(C, name="MPIR_F08_{name}") :: {name}')
    lines += ['type(MPI_Status), bind(C, name="MPIR_F08_MPI_STATUS_IGNORE_OBJ") :: MPI_STATUS_IGNORE',
              'type(MPI_Status), bind(C, name="MPIR_F08_MPI_STATUSES_IGNORE_OBJ") :: MPI_STATUSES_IGNORE(1)',
              "integer :: MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)", "common /MPIFCMB5/ MPI_UNWEIGHTED",
              "common /MPIFCMB9/ MPI_WEIGHTS_EMPTY",
              "character(len=1) :: MPI_ARGVS_NULL(1,1), MPI_ARGV_NULL(1)", "common /MPIPRIVC/ MPI_ARGVS_NULL, MPI_ARGV_NULL",
              "integer, private :: statuses_of_mpif_h(5)", "integer :: MPI_ERRCODES_IGNORE(1)",
              "common /MPIPRIV2/ statuses_of_mpif_h, MPI_ERRCODES_IGNORE"]
    lines += [f"external {name}" for name in CALLBACKS]
    for operator in ("==", "/="):
        word = "equal" if operator == "==" else "differ"
        lines.append(f"interface operator({operator})")
        lines += [f"  module procedure {word}_{kind}" for kind in HANDLES]
        lines.append("end interface")
    lines += [f"private :: equal_{kind}, differ_{kind}" for kind in HANDLES]
    lines += f08.abstract_interfaces(HANDLES + ("Status",)) + sizeof_interface()
    lines += f08.interfaces(functions, sys.modules[__name__]) + SYNC_REG
    lines.append("contains")
    lines += sizeof_procedures(True) + STATUS_CONVERSIONS
    for word, operator in (("equal", "=="), ("differ", "/=")):
        for kind in HANDLES:
            lines += [f"elemental logical function {word}_{kind}(a, b)", f"  type(MPI_{kind}), intent(in) :: a, b",
                      f"  {word}_{kind} = a%MPI_VAL {operator} b%MPI_VAL", "end function"]
    return "\n".join(lines + ["end module mpi_f08"]) + "\n"


def modules_ext(functions, constants):
    """What goes with the modules mpi and mpi_f08."""
    used = sorted({name for function in functions for name in f08.types_of(function)})
    lines = ["! The modules mpi_ext and mpi_f08_ext. Written by generate.py.", "module mpi_ext", "implicit none"]
    lines += constants + interfaces(functions) + ["end module mpi_ext"]
    lines += ["module mpi_f08_ext", "use mpi_f08, only: " + ", ".join(used), "implicit none"]
    lines += constants + f08.interfaces(functions, sys.modules[__name__]) + ["end module mpi_f08_ext"]
    return "\n".join(lines) + "\n"


def text_of(header):
    return re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)


def main():
    header_path, ext_path, table_path, folder = (pathlib.Path(argument) for argument in sys.argv[1:5])
    header, ext = text_of(header_path), text_of(ext_path)
    table = Table(table_path)
    everything = table.apply(functions_of(header) + functions_of(ext, "MPIX"))
    functions = [function for function in everything if function.prefix == "MPI"]
    extensions = [function for function in everything if function.prefix == "MPIX"]
    ext_constants = parameters((name, value) for name, _, value in constants_of(ext, "MPIX"))
    plain = [function for function in functions if not function.is_large]
    constants = constants_of(header)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("bindings.c", bindings(everything)), ("by_hand_names.h", by_hand_names(functions)),
                       ("mpif.h", mpif(plain, table, constants)),
                       ("mpi.f90", module_mpi(plain, table, constants)),
                       ("mpi_f08.f90", module_f08(functions, table, constants)),
                       ("mpi_f08ts.f90", f08.subroutines(functions, sys.modules[__name__])),
                       ("mpif-ext.h", "\n".join(["! ULFM for Fortran. Written by generate.py."] + ext_constants) + "\n"),
                       ("mpi_ext.f90", modules_ext(extensions, ext_constants))):
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
