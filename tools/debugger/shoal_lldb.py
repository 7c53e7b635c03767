"""lldb printers for shoal. Load them with `command script import share/shoal/debugger/shoal_lldb.py`, in lldb or in
~/.lldbinit.

    (lldb) frame variable boat
    (shoal::Entity) boat = 12:3 alive
    (lldb) frame variable bodies              # rows, up to `settings set target.max-children-count`
    (lldb) frame variable place               # a split field as one vector
    (lldb) shoal-describe world boat          # all components, if the program links shoal::inspect

With a library without debug information, compile the program with -femit-class-debug-always (g++) or -fstandalone-debug
(clang): otherwise lldb does not know what is in a manager.

An entity is said to be alive or dead if the selected frame, or a global variable, has an EntityManager or a World.
Values are read from memory: only shoal-describe calls a function of the program.
"""

import os
import shlex
import sys

import lldb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import shoal_values  # noqa: E402


class Value:
    def __init__(self, value):
        value = value.GetNonSyntheticValue()
        self.value = value.Dereference() if value.GetType().IsReferenceType() else value

    def member(self, name):
        return Value(self.value.GetChildMemberWithName(name))

    def at(self, i):
        type = self.value.GetType().GetCanonicalType()
        if not type.IsPointerType():
            return Value(self.value.GetChildAtIndex(i))
        element = type.GetPointeeType()
        address = self.value.GetValueAsUnsigned() + i * element.GetByteSize()
        return Value(self.value.CreateValueFromAddress("[%d]" % i, address, element))

    def target(self):
        type = self.value.GetType().GetCanonicalType()
        return Value(self.value.Dereference()) if type.IsPointerType() or type.IsReferenceType() else self

    def number(self):
        flags = self.value.GetType().GetCanonicalType().GetTypeFlags()
        return self.value.GetValueAsSigned() if flags & lldb.eTypeIsSigned else self.value.GetValueAsUnsigned()

    def real(self):
        return self.value.GetData().GetFloat(lldb.SBError(), 0)

    def address(self):
        return self.value.GetLoadAddress()

    def size(self):
        return self.value.GetType().GetByteSize()

    def length(self):
        return self.value.GetNumChildren()


class Access:
    """A Debugger, as shoal_values.py wants it."""

    def __init__(self, target):
        self.target = target
        self.debuggee = target.GetProcess()
        self.frame = self.debuggee.GetSelectedThread().GetSelectedFrame()

    def read(self, address, num_bytes):
        if num_bytes == 0:
            return b""
        error = lldb.SBError()
        data = self.debuggee.ReadMemory(address, num_bytes, error)
        if error.Fail():
            raise ValueError(error.GetCString())
        return data

    def byte_at_symbol(self, name):
        found = self.target.FindSymbols(name)
        if found.GetSize() == 0:
            return None
        return self.read(found[0].GetSymbol().GetStartAddress().GetLoadAddress(self.target), 1)[0]

    def variables(self):
        for value in self.frame.GetVariables(True, True, True, True):
            value = Value(value).target()
            yield value.value.GetType().GetCanonicalType().GetUnqualifiedType().GetName(), value


def shown(value, text):
    """The text for a value, or what is wrong with it: a value that is not alive may be anything."""
    try:
        return text(Access(value.GetTarget()), Value(value))
    except (ValueError, OverflowError) as error:
        return "<%s>" % error


def summary_of_text(text):
    return lambda value, _: shown(value, text)


def summary_of_table(table):
    """A table as gdb prints it: the number of rows, and the rows up to a limit."""

    def text(debugger, value):
        limit = debugger.target.GetDebugger().GetSetting("target.max-children-count").GetUnsignedIntegerValue(256)
        rows = table(debugger, value)
        parts = ["%d = %s" % (i, row) for i, row in zip(range(limit), rows.rows())]
        more = ["..."] if rows.num_rows() > limit else []
        return rows.head() + (" = {" + ", ".join(parts + more) + "}" if parts else "")

    return summary_of_text(text)


def describe(debugger, command, context, result, _):
    arguments = shlex.split(command)
    if len(arguments) != 2:
        return result.SetError(shoal_values.DESCRIBE_USAGE)
    frame = context.GetFrame()
    access = Access(context.GetTarget())
    world = frame.EvaluateExpression(arguments[0])
    if world.GetError().Fail():
        return result.SetError(world.GetError().GetCString())
    if world.GetType().GetCanonicalType().IsPointerType():
        world = world.Dereference()
    bits = shoal_values.entity_bits(access, Value(world), arguments[1])
    if bits is None:
        entity = frame.EvaluateExpression(arguments[1])
        if entity.GetError().Fail():
            return result.SetError(entity.GetError().GetCString())
        bits = Value(entity).member("id").number()
    if not context.GetTarget().FindSymbols("shoal_describe_entity").GetSize():
        return result.SetError(shoal_values.DESCRIBE_MISSING)
    call = shoal_values.describe_expression(Value(world).address(), bits)
    text = frame.EvaluateExpression(call)
    if text.GetError().Fail():
        return result.SetError(text.GetError().GetCString())
    result.Print(shoal_values.text_at(access, text.GetValueAsUnsigned()))


describe.__doc__ = shoal_values.DESCRIBE_HELP


def __lldb_init_module(debugger, _):
    this = sys.modules[__name__]
    summaries = {name: summary_of_text(text) for name, text in shoal_values.TEXTS.items()}
    summaries |= {name: summary_of_table(table) for name, table in shoal_values.TABLES.items()}
    for i, (name, summary) in enumerate(summaries.items()):
        setattr(this, "summary_%d" % i, summary)
        debugger.HandleCommand('type summary add -w shoal -p -x "%s" -F %s.summary_%d' % (name, __name__, i))
    debugger.HandleCommand("type category enable shoal")
    debugger.HandleCommand("command script add -o -f %s.describe shoal-describe" % __name__)
