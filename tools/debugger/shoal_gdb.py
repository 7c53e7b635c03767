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

import struct

import gdb
import gdb.printing

# By FieldType: the format of struct.unpack, and how many values.
PLAIN = {1: ("?", 1), 2: ("b", 1), 3: ("h", 1), 4: ("i", 1), 5: ("q", 1), 6: ("B", 1), 7: ("H", 1), 8: ("I", 1),
         9: ("Q", 1), 10: ("f", 1), 11: ("d", 1), 12: ("f", 2), 13: ("f", 3), 14: ("f", 4), 15: ("f", 4), 16: ("f", 12)}
ENUM, STRING_ID, RESOURCE_ID, ENTITY, FIXED_STRING = 17, 18, 19, 20, 21
WHOLE_COMPONENT = 0xFFFFFFFF


def vector(value):
    """The elements of a std::vector."""
    first = value["_M_impl"]["_M_start"]
    return [first[i] for i in range(int(value["_M_impl"]["_M_finish"] - first))]


def std_string(value):
    return value["_M_dataplus"]["_M_p"].string(length=int(value["_M_string_length"]))


def number(value):
    """The shortest text of a float, as C++ prints it with %g."""
    return "%g" % value if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def counted(number_of, noun):
    return "%d %s%s" % (number_of, noun, "" if number_of == 1 else "s")


# --- entities -------------------------------------------------------------------------------------------------------

def entity_manager():
    """An entity manager that the selected frame or a global variable has, or None."""
    try:
        block = gdb.selected_frame().block()
    except (gdb.error, RuntimeError):
        return None
    while block is not None:
        for symbol in block:
            if not symbol.is_variable and not symbol.is_argument:
                continue
            try:
                value = symbol.value(gdb.selected_frame()) if symbol.needs_frame else symbol.value()
                if value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_PTR):
                    value = value.referenced_value()
                name = str(value.type.unqualified().strip_typedefs())
                if name == "shoal::World":
                    return value["entities_"].referenced_value()
                if name == "shoal::EntityManager":
                    return value
            except (gdb.error, gdb.MemoryError):
                continue
        block = block.superblock
    return None


def entity_text(bits, size):
    index_bits, generation_bits = (22, 8) if size == 4 else (32, 32)
    if bits == 0:
        return "null"
    index, generation = bits & ((1 << index_bits) - 1), bits >> index_bits & ((1 << generation_bits) - 1)
    text = "%d:%d" % (index, generation)
    manager = entity_manager()
    if manager is None:
        return text
    size_of_generation = "unsigned char" if size == 4 else "unsigned int"
    generations = manager["generations_"]["range_"]["data"].cast(gdb.lookup_type(size_of_generation).pointer())
    used = index < int(manager["next_index_"])
    return text + (" alive" if used and int(generations[index]) == generation else " dead")


class EntityPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return entity_text(int(self.value["id"]), self.value.type.sizeof)


# --- small values ---------------------------------------------------------------------------------------------------

class HashPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "#0x%016x" % int(self.value["hash"])


class FixedStringPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return self.value["data"].address.cast(gdb.lookup_type("char").pointer()).string(errors="replace")

    def display_hint(self):
        return "string"


class StatusPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        message = self.value["message_"]
        return "ok" if int(message) == 0 else "error: " + message.string(errors="replace")


class SplitReferencePrinter:
    """A row of a field that is split into lanes, as one vector."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        lanes, row = self.value["lanes_"], int(self.value["row_"])
        first, last = lanes.type.range()
        return "[" + " ".join(number(float(lanes[i][row])) for i in range(first, last + 1)) + "]"


# --- tables ---------------------------------------------------------------------------------------------------------

class SchemaField:
    """What a table needs of a shoal::Field."""

    def __init__(self, field, columns):
        self.name = std_string(field["name"])
        self.type = int(field["type"])
        self.value_bytes = int(field["value_bytes"])
        self.length = int(field["array_length"])
        self.first_column, self.num_columns = int(field["first_column"]), int(field["num_columns"])
        self.offset = int(field["struct_offset"]) - int(columns[self.first_column]["struct_offset"])
        self.names = {int(e["value"]): std_string(e["name"]) for e in vector(field["enumerators"])}

    def text(self, columns, row):
        """The value in a row. Each of `columns` is an address and the bytes of an element."""
        memory = gdb.selected_inferior()
        if self.num_columns > 1:
            lanes = columns[self.first_column:self.first_column + self.num_columns]
            data = b"".join(bytes(memory.read_memory(address + row * 4, 4)) for address, _ in lanes)
            return self.one(data)
        address, element_bytes = columns[self.first_column]
        data = bytes(memory.read_memory(address + row * element_bytes + self.offset,
                                        self.value_bytes * max(self.length, 1)))
        if self.length == 0:
            return self.one(data)
        parts = [data[i:i + self.value_bytes] for i in range(0, len(data), self.value_bytes)]
        return "[" + ", ".join(self.one(part) for part in parts) + "]"

    def one(self, data):
        if self.type in PLAIN:
            code, count = PLAIN[self.type]
            values = [number(v) for v in struct.unpack("<%d%s" % (count, code), data)]
            return values[0] if count == 1 else "[" + " ".join(values) + "]"
        if self.type == ENUM:
            value = int.from_bytes(data, "little", signed=True)
            return self.names.get(value, self.names.get(int.from_bytes(data, "little"), str(value)))
        if self.type in (STRING_ID, RESOURCE_ID):
            return "#0x%016x" % int.from_bytes(data, "little")
        if self.type == ENTITY:
            return entity_text(int.from_bytes(data, "little"), len(data))
        if self.type == FIXED_STRING:
            return '"' + data.split(b"\0")[0].decode(errors="replace") + '"'
        return "..."


class TablePrinter:
    """Rows with their owners and their fields."""

    def __init__(self, value):
        self.storage = value["storage_"]
        self.schema = self.storage["schema_"].dereference()

    def to_string(self):
        return "table %s, %s" % (std_string(self.schema["name_"]), counted(int(self.storage["num_rows_"]), "row"))

    def children(self):
        definitions = vector(self.schema["columns_"])
        fields = [SchemaField(field, definitions) for field in vector(self.schema["fields_"])]
        columns = [(int(c["data"]), int(c["element_bytes"])) for c in vector(self.storage["columns_"])]
        for row in range(int(self.storage["num_rows_"])):
            owner = self.storage["owners_"][row]
            values = ", ".join("%s = %s" % (field.name, field.text(columns, row)) for field in fields)
            yield str(row), "%s: %s" % (entity_text(int(owner["id"]), owner.type.sizeof), values)


class ManagerPrinter(TablePrinter):
    def __init__(self, value):
        super().__init__(value["core_"]["rows_"]["table_"])


class WorldPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        stores = vector(self.value["stores_"])
        return "world of %s, frame %d; shoal-describe WORLD ENTITY tells about an entity" % (
            counted(len(stores), "store"), int(self.value["frame_"]))


class Describe(gdb.Command):
    """shoal-describe WORLD ENTITY: tells all about an entity. Both are expressions. The program links shoal::inspect
    and calls or refers to shoal_describe_entity()."""

    def __init__(self):
        super().__init__("shoal-describe", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        arguments = gdb.string_to_argv(argument)
        if len(arguments) != 2:
            raise gdb.GdbError("write `shoal-describe WORLD ENTITY`, such as `shoal-describe world boat`")
        world, entity = (gdb.parse_and_eval(text) for text in arguments)
        if world.type.code != gdb.TYPE_CODE_PTR:
            world = world.address
        call = "((const char* (*)(const void*, unsigned long))shoal_describe_entity)(%#x, %d)" % (int(world), int(entity["id"]))
        gdb.write(gdb.parse_and_eval(call).string(errors="replace"))


def printers():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("shoal")
    collection.add_printer("Entity", r"^shoal::Entity$", EntityPrinter)
    collection.add_printer("StringId", r"^shoal::(StringId|ResourceId)$", HashPrinter)
    collection.add_printer("FixedString", r"^shoal::FixedString<.*>$", FixedStringPrinter)
    collection.add_printer("Status", r"^shoal::Status$", StatusPrinter)
    collection.add_printer("SplitReference", r"^shoal::SplitReference<.*>$", SplitReferencePrinter)
    collection.add_printer("Table", r"^shoal::Table$", TablePrinter)
    collection.add_printer("Manager", r"^shoal::Manager<.*>$", ManagerPrinter)
    collection.add_printer("World", r"^shoal::World$", WorldPrinter)
    return collection


gdb.printing.register_pretty_printer(None, printers(), replace=True)
Describe()
