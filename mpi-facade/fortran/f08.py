"""What generate.py writes for the module mpi_f08 (MPI 3.1, 17.1.2).

MPI_Send is a generic name. Its specific name is MPI_Send_f08 where there is no choice buffer: that is another name of what mpif.h
calls. Where there is one it is MPI_Send_f08ts, a subroutine of Fortran that hands the buffer's descriptor on to C
(sections.h), so that array sections can be communicated.
"""
import re

# What wants the address alone.
RAW = ("Get_address", "Address", "Buffer_attach", "Free_mem", "Win_create", "Win_attach", "Win_detach")
# What gives an address to the program, in a TYPE(C_PTR).
POINTERS = {"Alloc_mem": "baseptr", "Win_allocate": "baseptr", "Win_allocate_shared": "baseptr",
            "Win_shared_query": "baseptr", "Buffer_detach": "buffer_addr"}


def is_buffer(function, parameter):
    return parameter.type == "void" and not is_pointer(function, parameter)


def is_pointer(function, parameter):
    return parameter.type == "void" and not parameter.const and function.name in POINTERS


def has_choice(function):
    return any(is_buffer(function, parameter) for parameter in function.parameters)


def name_of(function, parameter):
    return POINTERS[function.name] if is_pointer(function, parameter) else parameter.fortran_name


def goes_on(name):
    """Whether the buffer is used after the function has returned."""
    name = name.removesuffix("_c")
    return bool(re.match(r"I[a-z]|File_i|R?(put|get|accumulate|get_accumulate|fetch_and_op|compare_and_swap)$", name) or
                re.match(r"(Put|Get|Accumulate|Get_accumulate|Fetch_and_op|Compare_and_swap)$", name) or
                name.endswith(("_init", "_begin")))


# --- C --------------------------------------------------------------------------------------------------------------

def buffer_code(function, index):
    """(before, address, after, replaced arguments) of the buffer that is parameter `index`."""
    buffer = function.parameters[index]
    name, section = buffer.name, f"{buffer.name}_s"
    if function.name in RAW or function.name.endswith("_end"):
        return "", f"{name}->base_addr", "", {}
    if not goes_on(function.name):
        keep = "1" if buffer.const else "0"
        return (f"struct llamada_section {section};\n  llamada_section_copy(&{section}, {name});", f"{section}.address",
                f"llamada_section_return(&{section}, {keep});", {})
    following = function.parameters[index + 1:index + 3]
    typed = len(following) == 2 and [parameter.type for parameter in following] == ["int", "MPI_Datatype"] and \
        not any(parameter.stars or parameter.brackets for parameter in following) and \
        not (function.name.startswith("I") and any(parameter.type == "MPI_Op" for parameter in function.parameters))
    if not typed:
        return (f"struct llamada_section {section};\n  llamada_section_whole(&{section}, {name}, &code_s);",
                f"{section}.address", "", {})
    count, datatype = (parameter.name for parameter in following)
    return (f"struct llamada_section {section};\n"
            f"  llamada_section_type(&{section}, {name}, *{count}, *{datatype}, &code_s);", f"{section}.address",
            f"llamada_section_free(&{section});", {count: f"&{section}.count", datatype: f"&{section}.datatype"})


def c_function(function, c_parameter):
    parts = [c_parameter(function, parameter) for parameter in function.parameters]
    declarations = [f"const CFI_cdesc_t* {parameter.name}" if is_buffer(function, parameter) else part[0]
                    for parameter, part in zip(function.parameters, parts)]
    hidden = [part[4] for part in parts if part[4]]
    before, after, replaced = [], [], {}
    for index, parameter in enumerate(function.parameters):
        if is_buffer(function, parameter):
            begin, address, end, others = buffer_code(function, index)
            before += [begin] if begin else []
            after += [end] if end else []
            replaced.update({parameter.name: address, **others})
    arguments = [replaced.get(parameter.name, parameter.name) for parameter in function.parameters]
    arguments += ["ierror"] + [text.split()[-1] for text in hidden]
    lower = function.name.lower()
    lines = [f"void llamada_{lower}_ts({', '.join(declarations + ['MPI_Fint* ierror'] + hidden)}) {{"]
    can_fail = any("code_s" in text for text in before)
    lines += ["  int code_s = MPI_SUCCESS;"] if can_fail else []
    lines += ["  " + text for text in before]
    call = f"pmpi_{lower}_({', '.join(arguments)});"
    lines += [f"  if (code_s == MPI_SUCCESS)\n    {call}\n  else if (ierror)\n    *ierror = code_s;"] if can_fail else ["  " + call]
    lines += ["  " + text for text in reversed(after)]
    return "\n".join(lines + ["}"]) + "\n"


# --- Fortran --------------------------------------------------------------------------------------------------------

def declaration(function, parameter, integer_kind, for_c=False):
    name = name_of(function, parameter)
    if parameter.is_callback:
        return f"EXTERNAL :: {name}"
    if is_pointer(function, parameter):
        return f"TYPE(C_PTR) :: {name}"
    if parameter.type == "void":
        intent = ", INTENT(IN)" if parameter.const else ""
        return f"TYPE(*), DIMENSION(..){intent}{', ASYNCHRONOUS' if goes_on(function.name) else ''} :: {name}"
    if parameter.type == "char":
        intent = ", INTENT(IN)" if parameter.const else ""
        shape = {"": "", "[]": "(*)", "[][]": "(count,*)"}[parameter.brackets]
        return f"CHARACTER(KIND=C_CHAR){intent} :: {name}(*)" if for_c else f"CHARACTER(LEN=*){intent} :: {name}{shape}"
    is_number = parameter.type == "int" or parameter.kind in ("narrow", "widen") or \
        parameter.type in ("MPI_Aint", "MPI_Count", "MPI_Offset")
    kind = integer_kind(parameter) if is_number else f"TYPE({parameter.type})"
    if parameter.brackets == "[][3]":
        return f"{kind} :: {name}(3,*)"
    is_input = parameter.const or (not parameter.stars and not parameter.brackets)
    return f"{kind}{', INTENT(IN)' if is_input else ''} :: {name}{'(*)' if parameter.is_array else ''}"


def procedure(function, name, helpers, for_c=""):
    """The lines of a specific procedure's head and declarations; for_c: what C is given behind all others."""
    arguments = [name_of(function, parameter) for parameter in function.parameters]
    is_function = function.result != "int"
    texts = [argument for argument, parameter in zip(arguments, function.parameters) if parameter.type == "char"]
    word = "FUNCTION" if is_function else "SUBROUTINE"
    arguments += [] if is_function else ["ierror"]
    arguments += [f"{text}_size" for text in texts] if for_c else []
    lines = helpers.procedure_head(word, name, arguments, f' BIND(C, NAME="{for_c}")' if for_c else "")
    body = [declaration(function, parameter, helpers.integer_kind, bool(for_c)) for parameter in function.parameters]
    body += [helpers.result_declaration(function, name) if is_function else "INTEGER, OPTIONAL :: ierror"]
    body += [f"INTEGER(C_SIZE_T), VALUE :: {text}_size" for text in texts] if for_c else []
    return lines, body, f"END {word} {name}"


def names(function):
    """(generic, specific) names."""
    suffix = ("f08ts" if has_choice(function) else "f08") + ("_large" if function.is_large else "")
    prefix, name = function.prefix, function.base_name
    return [(f"{prefix}_{name}", f"{prefix}_{name}_{suffix}"), (f"P{prefix}_{name}", f"P{prefix}R_{name}_{suffix}")]


def interfaces(functions, helpers):
    lines = []
    for function in functions:
        for generic, specific in names(function):
            head, body, end = procedure(function, specific, helpers)
            lines += [f"interface {generic}"] + helpers.indented(head + ["IMPORT", "IMPLICIT NONE"] + body + [end]) + \
                ["end interface"]
    return lines


def types_of(function):
    """What a procedure needs of mpi_f08 for its declarations."""
    found = {parameter.type for parameter in function.parameters if parameter.type.startswith("MPI_")}
    kinds = {"MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Count": "MPI_COUNT_KIND", "MPI_Offset": "MPI_OFFSET_KIND"}
    return sorted(kinds.get(name, name) for name in found)


def subroutines(functions, helpers):
    """The file of the procedures with choice buffers."""
    lines = ["! The procedures of mpi_f08 with choice buffers. Written by generate.py."]
    for function in filter(has_choice, functions):
        if function.by_hand:
            continue
        inner = f"llamada_{function.name.lower()}_ts"
        for _, specific in names(function):
            head, body, end = procedure(function, specific, helpers)
            c_head, c_body, c_end = procedure(function, inner, helpers, inner)
            arguments = [name_of(function, parameter) for parameter in function.parameters] + ["ierror"]
            arguments += [f"len({name_of(function, parameter)}, C_SIZE_T)" for parameter in function.parameters
                          if parameter.type == "char"]
            used = types_of(function)
            lines += head + (["USE :: mpi_f08, ONLY : " + ", ".join(used)] if used else [])
            lines += ["USE, INTRINSIC :: iso_c_binding", "IMPLICIT NONE"] + body + ["INTERFACE"]
            lines += helpers.indented(c_head + ["IMPORT", "IMPLICIT NONE"] + c_body + [c_end]) + ["END INTERFACE"]
            lines += [f"call {inner}( &"] + [f"  {argument}{',' if index + 1 < len(arguments) else ''} &"
                                            for index, argument in enumerate(arguments)] + [")", end]
    return "\n".join(lines) + "\n"


# The interfaces of what a program gives to MPI (MPI 3.1, A.1.3 and A.4): (name, arguments).
COPY = "extra_state:A, attribute_val_in:A, attribute_val_out:A, flag:L, ierror:I"
CALLBACKS = [("MPI_User_function", "invec:P, inoutvec:P, len:I, datatype:Datatype"),
             ("MPI_Comm_copy_attr_function", "oldcomm:Comm, comm_keyval:I, " + COPY),
             ("MPI_Comm_delete_attr_function", "comm:Comm, comm_keyval:I, attribute_val:A, extra_state:A, ierror:I"),
             ("MPI_Win_copy_attr_function", "oldwin:Win, win_keyval:I, " + COPY),
             ("MPI_Win_delete_attr_function", "win:Win, win_keyval:I, attribute_val:A, extra_state:A, ierror:I"),
             ("MPI_Type_copy_attr_function", "oldtype:Datatype, type_keyval:I, " + COPY),
             ("MPI_Type_delete_attr_function", "datatype:Datatype, type_keyval:I, attribute_val:A, extra_state:A, ierror:I"),
             ("MPI_Comm_errhandler_function", "comm:Comm, error_code:I"),
             ("MPI_Session_errhandler_function", "session:Session, error_code:I"),
             ("MPI_Win_errhandler_function", "win:Win, error_code:I"),
             ("MPI_File_errhandler_function", "file:File, error_code:I"),
             ("MPI_Grequest_query_function", "extra_state:A, status:Status, ierror:I"),
             ("MPI_Grequest_free_function", "extra_state:A, ierror:I"),
             ("MPI_Grequest_cancel_function", "extra_state:A, complete:L, ierror:I"),
             ("MPI_Datarep_extent_function", "datatype:Datatype, extent:A, extra_state:A, ierror:I"),
             ("MPI_Datarep_conversion_function",
              "userbuf:P, datatype:Datatype, count:I, filebuf:P, position:O, extra_state:A, ierror:I")]
WORDS = {"I": "INTEGER", "L": "LOGICAL", "A": "INTEGER(KIND=MPI_ADDRESS_KIND)", "O": "INTEGER(KIND=MPI_OFFSET_KIND)",
         "P": "TYPE(C_PTR), VALUE"}


def abstract_interfaces(kinds):
    lines = ["abstract interface"]
    for name, text in CALLBACKS:
        arguments = [part.strip().split(":") for part in text.split(",")]
        if any(kind not in WORDS and kind not in kinds for _, kind in arguments):
            continue
        lines += [f"  subroutine {name}({', '.join(argument for argument, _ in arguments)})", "    import", "    implicit none"]
        lines += [f"    {WORDS.get(kind, f'TYPE(MPI_{kind})')} :: {argument}" for argument, kind in arguments]
        lines += [f"  end subroutine {name}"]
    return lines + ["end interface"]
