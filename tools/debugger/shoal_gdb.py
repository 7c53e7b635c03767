"""gdb printers for shoal. Load them with `source share/shoal/debugger/shoal_gdb.py`, in gdb or in ~/.gdbinit.

    (gdb) print boat
    $1 = 12:3 alive
    (gdb) print bodies.core().table()         # rows, up to `set print elements`
    (gdb) print velocities[7]                 # a split field as one vector
    (gdb) shoal-describe world boat           # all components, if the program links shoal::inspect

With a library without debug information, compile the program with -femit-class-debug-always (g++) or -fstandalone-debug
(clang): otherwise gdb does not know what is in a manager.

An entity is said to be alive or dead if the selected frame, or a global variable, has an EntityManager or a World.
Values are read from memory: only shoal-describe calls a function of the program.
"""

import os
import sys

import gdb
import gdb.printing

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import shoal_values  # noqa: E402


class Value:
    def __init__(self, value):
        self.value = value

    def member(self, name):
        return Value(self.value[name])

    def at(self, i):
        return Value(self.value[i])

    def target(self):
        return Value(self.value.referenced_value())

    def number(self):
        return int(self.value)

    def real(self):
        return float(self.value)

    def address(self):
        return int(self.value.address)

    def size(self):
        type = self.value.type
        return (type.target() if type.code == gdb.TYPE_CODE_REF else type).sizeof

    def length(self):
        first, last = self.value.type.range()
        return last - first + 1


def read(address, num_bytes):
    return bytes(gdb.selected_inferior().read_memory(address, num_bytes)) if num_bytes != 0 else b""


def byte_at_symbol(name):
    try:
        return int(gdb.parse_and_eval("*(unsigned char*)&%s" % name))
    except gdb.error:
        return None


def variables():
    try:
        block = gdb.selected_frame().block()
    except (gdb.error, RuntimeError):
        return
    while block is not None:
        for symbol in block:
            if not symbol.is_variable and not symbol.is_argument:
                continue
            try:
                value = symbol.value(gdb.selected_frame()) if symbol.needs_frame else symbol.value()
                if value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_PTR):
                    value = value.referenced_value()
                yield str(value.type.unqualified().strip_typedefs()), Value(value)
            except (gdb.error, gdb.MemoryError):
                continue
        block = block.superblock


gdb_access = sys.modules[__name__]  # a Debugger, as shoal_values.py wants it


def printer_of_text(text):
    class Printer:
        def __init__(self, value):
            self.value = value

        def to_string(self):
            return text(gdb_access, Value(self.value))

        if text is shoal_values.fixed_string_text:
            def display_hint(self):
                return "string"

    return Printer


def printer_of_table(table):
    class Printer:
        def __init__(self, value):
            self.table = table(gdb_access, Value(value))

        def to_string(self):
            return self.table.head()

        def children(self):
            for row, text in enumerate(self.table.rows()):
                yield str(row), text

    return Printer


class Describe(gdb.Command):
    __doc__ = shoal_values.DESCRIBE_HELP

    def __init__(self):
        super().__init__("shoal-describe", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        arguments = gdb.string_to_argv(argument)
        if len(arguments) != 2:
            raise gdb.GdbError(shoal_values.DESCRIBE_USAGE)
        try:
            self.describe(arguments)
        except gdb.error as error:
            raise gdb.GdbError(str(error))

    def describe(self, arguments):
        world = gdb.parse_and_eval(arguments[0])
        if world.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
            world = world.dereference()
        bits = shoal_values.entity_bits(gdb_access, Value(world), arguments[1])
        if bits is None:
            bits = int(gdb.parse_and_eval(arguments[1])["id"])
        try:
            gdb.parse_and_eval("&shoal_describe_entity")
        except gdb.error:
            raise gdb.GdbError(shoal_values.DESCRIBE_MISSING)
        call = shoal_values.describe_expression(int(world.address), bits)
        gdb.write(gdb.parse_and_eval(call).string(errors="replace"))


def printers():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("shoal")
    for name, text in shoal_values.TEXTS.items():
        collection.add_printer(name, name, printer_of_text(text))
    for name, table in shoal_values.TABLES.items():
        collection.add_printer(name, name, printer_of_table(table))
    return collection


gdb.printing.register_pretty_printer(None, printers(), replace=True)
Describe()
