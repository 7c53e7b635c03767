"""What shoal's values look like to people, for the printers of gdb and lldb, which differ in how they reach memory.

A front end (shoal_gdb.py, shoal_lldb.py) wraps its values and itself:

    Value      member(name)   the member of a struct, or of what it inherits
               at(i)          an element of an array, or of what a pointer points to
               target()       what a pointer or reference refers to
               number()       an integer, an enum, or the address in a pointer
               real()         a float
               address()      where it lies
               size()         its bytes
               length()       how many elements an array has
    Debugger   read(address, num_bytes)   bytes of the program
               variables()                values that the selected frame or a global variable has, innermost first, as
                                          pairs of the name of their type, without const, * and &, and the Value
               byte_at_symbol(name)       one byte of a variable that needs no debug information, or None

Nothing here calls a function of the program.
"""

import re
import struct

# By FieldType: the format of struct.unpack, and how many values.
PLAIN = {1: ("?", 1), 2: ("b", 1), 3: ("h", 1), 4: ("i", 1), 5: ("q", 1), 6: ("B", 1), 7: ("H", 1), 8: ("I", 1),
         9: ("Q", 1), 10: ("f", 1), 11: ("d", 1), 12: ("f", 2), 13: ("f", 3), 14: ("f", 4), 15: ("f", 4), 16: ("f", 12)}
ENUM, STRING_ID, RESOURCE_ID, ENTITY, FIXED_STRING = 17, 18, 19, 20, 21
SPARE_BITS = 2  # of a 32-bit id


def array(value):
    """The elements of a shoal::Array."""
    first, end = value.member("begin_"), value.member("end_")
    if first.number() == end.number():
        return []
    return [first.at(i) for i in range((end.number() - first.number()) // first.at(0).size())]


def text_at(debugger, address):
    """The text that ends with a zero byte."""
    data = b""
    while b"\0" not in data:
        # Up to the end of 64 bytes that lie in one page, because the next page may not be there.
        data += debugger.read(address + len(data), 64 - (address + len(data)) % 64)
    return data.split(b"\0")[0].decode(errors="replace")


def std_string(debugger, value):
    length = value.member("_M_string_length").number()
    return debugger.read(value.member("_M_dataplus").member("_M_p").number(), length).decode(errors="replace")


def number_text(value):
    """The shortest text of a float, as C++ prints it with %g."""
    return "%g" % value if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def counted(number_of, noun):
    return "%d %s%s" % (number_of, noun, "" if number_of == 1 else "s")


# --- entities -------------------------------------------------------------------------------------------------------

def entity_manager(debugger):
    """An entity manager that the selected frame or a global variable has, or None."""
    for name, value in debugger.variables():
        if name == "shoal::World":
            return value.member("entities_").target()
        if name == "shoal::EntityManager":
            return value
    return None


def bits_of_ids(debugger, size):
    """Bits of the index and of the generation in an id of `size` bytes."""
    index_bits = debugger.byte_at_symbol("shoal_num_index_bits") or (22 if size == 4 else 32)
    return index_bits, 32 - SPARE_BITS - index_bits if size == 4 else 32


def entity_text(debugger, bits, size):
    if bits == 0:
        return "null"
    index_bits, generation_bits = bits_of_ids(debugger, size)
    index, generation = bits & ((1 << index_bits) - 1), bits >> index_bits & ((1 << generation_bits) - 1)
    text = "%d:%d" % (index, generation)
    manager = entity_manager(debugger)
    if manager is None:
        return text
    alive = generation_of(debugger, manager, index, generation_bits) == generation
    return text + (" alive" if alive else " dead")


def generation_of(debugger, manager, index, generation_bits):
    """The generation that is alive on an index, or 0."""
    if index >= manager.member("next_index_").number():
        return 0
    num_bytes = 1 if generation_bits <= 8 else 2 if generation_bits <= 16 else 4
    generations = manager.member("generations_").member("range_").member("data").number()
    return int.from_bytes(debugger.read(generations + index * num_bytes, num_bytes), "little")


def entity_value_text(debugger, entity):
    return entity_text(debugger, entity.member("id").number(), entity.size())


# --- small values ---------------------------------------------------------------------------------------------------

def hash_text(debugger, value):
    return "#0x%016x" % value.member("hash").number()


def fixed_string_text(debugger, value):
    return text_at(debugger, value.member("data").address())


def status_text(debugger, value):
    message = value.member("message_").number()
    return "ok" if message == 0 else "error: " + text_at(debugger, message)


def split_text(debugger, value):
    """A row of a field that is split into lanes, as one vector."""
    names = "xyzw"[:value.size() // 8]  # a reference for each lane
    return "[" + " ".join(number_text(value.member(name).target().real()) for name in names) + "]"


# --- tables ---------------------------------------------------------------------------------------------------------

class SchemaField:
    """What a table needs of a shoal::Field."""

    def __init__(self, debugger, field, columns):
        self.debugger = debugger
        self.name = std_string(debugger, field.member("name"))
        self.type = field.member("type").number()
        self.value_bytes = field.member("value_bytes").number()
        self.length = field.member("array_length").number()
        self.first_column, self.num_columns = field.member("first_column").number(), field.member("num_columns").number()
        self.offset = field.member("struct_offset").number() - columns[self.first_column].member("struct_offset").number()
        self.names = {e.member("value").number(): std_string(debugger, e.member("name"))
                      for e in array(field.member("enumerators"))}

    def text(self, columns, row):
        """The value in a row. Each of `columns` is an address and the bytes of an element."""
        read = self.debugger.read
        if self.num_columns > 1:
            lanes = columns[self.first_column:self.first_column + self.num_columns]
            return self.one(b"".join(read(address + row * 4, 4) for address, _ in lanes))
        address, element_bytes = columns[self.first_column]
        data = read(address + row * element_bytes + self.offset, self.value_bytes * max(self.length, 1))
        if self.length == 0:
            return self.one(data)
        parts = [data[i:i + self.value_bytes] for i in range(0, len(data), self.value_bytes)]
        return "[" + ", ".join(self.one(part) for part in parts) + "]"

    def one(self, data):
        if self.type in PLAIN:
            code, count = PLAIN[self.type]
            values = [number_text(v) for v in struct.unpack("<%d%s" % (count, code), data)]
            return values[0] if count == 1 else "[" + " ".join(values) + "]"
        if self.type == ENUM:
            value = int.from_bytes(data, "little", signed=True)
            return self.names.get(value, self.names.get(int.from_bytes(data, "little"), str(value)))
        if self.type in (STRING_ID, RESOURCE_ID):
            return "#0x%016x" % int.from_bytes(data, "little")
        if self.type == ENTITY:
            return entity_text(self.debugger, int.from_bytes(data, "little"), len(data))
        if self.type == FIXED_STRING:
            return '"' + data.split(b"\0")[0].decode(errors="replace") + '"'
        return "..."


class Table:
    """The rows of a shoal::Table, with their owners and their fields."""

    def __init__(self, debugger, value):
        self.debugger = debugger
        self.storage = value.member("storage_")
        self.schema = self.storage.member("schema_").target()

    def num_rows(self):
        return self.storage.member("num_rows_").number()

    def head(self):
        return "table %s, %s" % (std_string(self.debugger, self.schema.member("name_")), counted(self.num_rows(), "row"))

    def rows(self):
        """The texts of the rows, in order."""
        definitions = array(self.schema.member("columns_"))
        fields = [SchemaField(self.debugger, field, definitions) for field in array(self.schema.member("fields_"))]
        columns = [(c.member("data").number(), c.member("element_bytes").number())
                   for c in array(self.storage.member("columns_"))]
        for row in range(self.num_rows()):
            owner = self.storage.member("owners_").at(row)
            values = ", ".join("%s = %s" % (field.name, field.text(columns, row)) for field in fields)
            yield "%s: %s" % (entity_value_text(self.debugger, owner), values)


def table_of_manager(debugger, manager):
    return Table(debugger, manager.member("core_").member("rows_").member("table_"))


# --- worlds ---------------------------------------------------------------------------------------------------------

def world_text(debugger, value):
    return "world of %s, frame %d; shoal-describe WORLD ENTITY tells about an entity" % (
        counted(len(array(value.member("directory_").member("stores_"))), "store"), value.member("schedule_").member("frame_").number())


DESCRIBE_HELP = """shoal-describe WORLD ENTITY: tells all about an entity. Both are expressions; ENTITY may also be a number as it is
shown, such as 21:1, or 21 for the one that has this number now. The program links shoal::inspect and calls or refers to
shoal_describe_entity()."""
DESCRIBE_MISSING = """the program has no shoal_describe_entity(), which tells about entities; link shoal::inspect, and refer to it:
`[[gnu::used]] static const auto describes = &shoal_describe_entity;`, of shoal/inspect/describe_entity.h"""
DESCRIBE_USAGE = "write `shoal-describe WORLD ENTITY`, such as `shoal-describe world boat`"


def entity_bits(debugger, world, text):
    """The id that a text such as 21:1 or 21 means in a world, or None: it is not such a text."""
    match = re.fullmatch(r"(\d+)(?::(\d+))?", text)
    if match is None:
        return None
    manager = world.member("entities_").target()
    index_bits, generation_bits = bits_of_ids(debugger, 8 if debugger.byte_at_symbol("shoal_num_index_bits") == 32 else 4)
    index = int(match[1])
    generation = int(match[2]) if match[2] else generation_of(debugger, manager, index, generation_bits)
    return index | generation << index_bits


def describe_expression(world_address, entity_bits):
    """What to evaluate in the program: the address of a text."""
    return "((const char* (*)(const void*, unsigned long))shoal_describe_entity)((const void*)%#x, %d)" % (
        world_address, entity_bits)


# What shows values of a type in one line, by the regular expression for its name. Tables and managers have rows too.
TEXTS = {
    r"^shoal::Entity$": entity_value_text,
    r"^shoal::(StringId|ResourceId)$": hash_text,
    r"^shoal::FixedString<.*>$": fixed_string_text,
    r"^shoal::Status$": status_text,
    r"^shoal::SplitReference<.*>$": split_text,
    r"^shoal::World$": world_text,
}
TABLES = {r"^shoal::Table$": Table, r"^shoal::Manager<.*>$": table_of_manager}
