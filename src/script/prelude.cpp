// The part of the room that is written in Lua. It calls a function with the columns of a batch. Under LuaJIT, columns
// are cdata whose accesses compile to a check and a load. A column holds only a slot number and the serial of a batch.
// The addresses are in the slots, which scripts cannot reach, so a script gains nothing by reading a column's fields.
// The values in the check are int32_t, which LuaJIT compares once before a loop. It would convert other types to double
// in each iteration.

#include "script/state.h"

namespace shoal::lua {

static_assert(offsetof(Slot, rows) == 8 && offsetof(Slot, count) == 16 && offsetof(Slot, serial) == 20 &&
              offsetof(Slot, step) == 24 && offsetof(Slot, form) == 28 && sizeof(Slot) == 56);

namespace {

constexpr const char* kPrelude = R"lua(
local native, slots_at, budget_at, nested_at, most_nested, too_deep = ...
local ffi, type, next, error, pcall = ffi, type, next, error, pcall
local make = native.column
local left, tick = 0, nil
local make_wide, read_wide
local function charge() end
if ffi then
    ffi.cdef[[
        typedef struct {
            union {
                int8_t* as_0; int16_t* as_1; int32_t* as_2; uint8_t* as_3; uint16_t* as_4; uint32_t* as_5;
                float* as_6; double* as_7; bool* as_8;
            };
            const uint32_t* rows;
            int32_t count, serial, step, form, stride, unused;
            const void* plan;
            bool is_written;
        } shoal_slot;
    ]]
    local slots = ffi.cast("shoal_slot*", slots_at)
    local places = {
        [0] = "local at = i",
        "local at = (i - i % 1) * s.step",
        "local at = s.rows[i] if at == 0xFFFFFFFF then return HERE end at = at * s.step",
    }
    local text = [[
        local ffi, type, slots, index, set, length = ...
        ffi.cdef"typedef struct { const int32_t slot, serial; } shoal_column_FORM;"
        local class = {__len = length, __tostring = function() return "a column" end}
        function class.__index(column, i)
            local s = slots[column.slot]
            if type(i) == "number" and i >= 0 and i < s.count and s.serial == column.serial then
                READ
                return s.as_TYPE[at]
            end
            return index(column, i)
        end
        class.__newindex = set
        if IS_WRITTEN then
            function class.__newindex(column, i, value)
                local s = slots[column.slot]
                if type(i) == "number" and i >= 0 and i < s.count and s.serial == column.serial then
                    WRITE
                    s.as_TYPE[at] = value
                    return
                end
                return set(column, i, value)
            end
        end
        return ffi.metatype("shoal_column_FORM", class)
    ]]
    local index, set, length, slow = native.index, native.set, native.length, native.column
    local loadstring, gsub, floor = loadstring, string.gsub, math.floor
    local function make_class(form)
        local layout, kind = floor((form - 1) / 2) % 3, floor((form - 1) / 6)
        local words = {
            FORM = form, TYPE = kind, IS_WRITTEN = (form - 1) % 2 == 1 and "true" or "false",
            READ = gsub(places[layout], "HERE", "nil"), WRITE = gsub(places[layout], "HERE", "set(column, i, value)"),
        }
        return loadstring(gsub(text, "[A-Z][A-Z_]+", words), "=[shoal]")(ffi, type, slots, index, set, length)
    end
    local classes = {}
    for form = 1, 54 do classes[form] = make_class(form) end
    function make(slot, serial)
        local form = slots[slot].form
        if form == 0 then return slow(slot, serial) end
        return classes[form](slot, serial)
    end
    -- Most calls of tick() count down from a few steps that were taken from the budget.
    local budget = ffi.cast("double*", budget_at)
    local spent = "the script has used all steps of its budget; do less in one call, or raise ScriptOptions::steps"
    local function take()
        if budget[0] < 0 then error(spent, 3) end
        budget[0] = budget[0] - 1000
        left = 999
    end
    function tick()
        left = left - 1
        if left < 0 then take() end
    end
    -- What works for long in one call counts as many steps. Calls at the end of a function leave no trace of it in errors.
    function charge(steps)
        budget[0] = budget[0] - steps
        if budget[0] < 0 then error(spent, 3) end
    end
    local function charge_text(text)
        if type(text) == "string" and #text > 256 then
            budget[0] = budget[0] - #text / 32
            if budget[0] < 0 then error(spent, 3) end
        end
    end
    local function finish(is_good, text)
        if not is_good then error(text, 2) end
        charge_text(text)
        return text
    end
    local select, max = select, math.max
    local insert, remove, concat, unpack = table.insert, table.remove, table.concat, unpack
    local number_of = tonumber
    function table.insert(list, ...)
        if select("#", ...) == 2 and type(list) == "table" then
            local place, count = number_of((...)), #list
            if place and not (place >= 1 and place < count + 2) then
                error("bad argument #2 to 'insert' (position out of bounds)", 2)
            end
            charge((count - (place or count)) / 8)
        end
        return insert(list, ...)
    end
    function table.remove(list, ...)
        local place = number_of((...))
        if place and place >= 1 and type(list) == "table" then charge(max(#list - place, 0) / 8) end
        return remove(list, ...)
    end
    function table.concat(list, ...)
        local _, first, last = ...
        if type(list) == "table" then charge(max((tonumber(last) or #list) - (tonumber(first) or 1), 0)) end
        return finish(pcall(concat, list, ...))
    end
    function _G.unpack(list, first, last)
        if type(list) == "table" then charge(max((tonumber(last) or #list) - (tonumber(first) or 1), 0) / 8) end
        return unpack(list, first, last)
    end
    function table.maxn(list)
        local most = 0
        for key in next, list do
            charge(1)
            if type(key) == "number" and key > most then most = key end
        end
        return most
    end
    for _, name in next, {"upper", "lower", "reverse"} do
        local whole = string[name]
        string[name] = function(text, ...)
            charge_text(text)
            return whole(text, ...)
        end
    end
    local byte, sub, format = string.byte, string.sub, string.format
    function string.byte(text, first, last)
        if last ~= nil then charge_text(text) end
        return byte(text, first, last)
    end
    function string.sub(text, ...)
        if type(text) == "string" and #text > 4096 then return finish(pcall(sub, text, ...)) end
        return sub(text, ...)
    end
    -- A whole number of 64 bits from its halves, and the halves of one.
    local signed, unsigned, is_of = ffi.typeof("int64_t"), ffi.typeof("uint64_t"), ffi.istype
    local half = unsigned(4294967296)
    function make_wide(is_signed, high, low)
        local value = unsigned(high) * half + low
        if is_signed then return signed(value) end
        return value
    end
    function read_wide(value)
        local is_signed = is_of(signed, value)
        if not is_signed and not is_of(unsigned, value) then return end
        local bits = unsigned(value)
        return is_signed, number_of(bits / half), number_of(bits % half)
    end
    -- Coroutines, and __tostring in a format, take stack of C, which Lua 5.4 counts itself.
    local nested = ffi.cast("int32_t*", nested_at)
    local resume, wrap, create = coroutine.resume, coroutine.wrap, coroutine.create
    local function leave(before, ...)
        nested[0] = before
        return ...
    end
    local function leave_or_raise(before, is_good, ...)
        nested[0] = before
        if is_good then return ... end
        error((...), 2)
    end
    function coroutine.resume(thread, ...)
        if type(thread) ~= "thread" then return resume(thread) end
        local before = nested[0]
        if before >= most_nested then return false, too_deep end
        nested[0] = before + 1
        return leave(before, resume(thread, ...))
    end
    function coroutine.wrap(run)
        if type(run) ~= "function" then return wrap(run) end
        local thread = create(run)
        return function(...)
            local before = nested[0]
            if before >= most_nested then error(too_deep, 2) end
            nested[0] = before + 1
            return leave_or_raise(before, resume(thread, ...))
        end
    end
    function string.format(...)
        local before = nested[0]
        if before >= most_nested then error(too_deep, 2) end
        nested[0] = before + 1
        return finish(leave(before, pcall(format, ...)))
    end
    function _G.tonumber(text, ...)
        charge_text(text)
        if select("#", ...) == 0 then return number_of(text) end
        return number_of(text, ...)
    end
end
-- As xpcall, but the handler runs when the error has been caught: Lua 5.4 calls no hooks in a handler, so nothing would end one
-- that loops. It loses no traceback, because scripts have no debug library.
local function give(handler, is_good, ...)
    if is_good then return true, ... end
    return false, (handler(...))
end
function xpcall(run, handler, ...)
    if type(handler) ~= "function" then error("bad argument #2 to 'xpcall' (function expected)", 2) end
    return give(handler, pcall(run, ...))
end
-- Merges runs of 1, 2, 4 ... values, so that no list costs more than another, and calls of `before` take no stack of C.
-- The list stays as it is until all is sorted.
local log, min, find, sub = math.log, math.min, string.find, string.sub
local function is_less(a, b) return a < b end
local function merge(from, to, first, middle, last, before)
    local left, right = first, middle
    for i = first, last - 1 do
        if left < middle and (right >= last or not before(from[right], from[left])) then
            to[i], left = from[left], left + 1
        else
            to[i], right = from[right], right + 1
        end
    end
end
local function sort(list, count, before)
    local from, to, width = {}, {}, 1
    for i = 1, count do from[i] = list[i] end
    while width < count do
        for first = 1, count, 2 * width do
            merge(from, to, first, min(first + width, count + 1), min(first + 2 * width, count + 1), before)
        end
        from, to, width = to, from, 2 * width
    end
    for i = 1, count do list[i] = from[i] end
end
function table.sort(list, before)
    if type(list) ~= "table" then error("bad argument #1 to 'sort' (table expected, got " .. type(list) .. ")", 2) end
    if before ~= nil and type(before) ~= "function" then error("bad argument #2 to 'sort' (function expected)", 2) end
    local count = #list
    if count < 2 then return end
    charge(count * (1 + 1.5 * log(count)))
    if before ~= nil then return sort(list, count, before) end
    local is_good, why = pcall(sort, list, count, is_less)
    if is_good then return end
    local _, own
    if type(why) == "string" then _, own = find(why, "^%[shoal%]:%d+: ") end
    error(own and sub(why, own + 1) or why, 2)
end
local function reset() left = 0 end
local function build(shape, slot, serial)
    if type(shape) == "number" then return make(slot + shape, serial) end
    local parts = {}
    for part, at in next, shape do parts[part] = make(slot + at, serial) end
    return parts
end
local function columns(shapes, slot, serial, i)
    local shape = shapes[i]
    if shape == nil then return end
    return build(shape, slot, serial), columns(shapes, slot, serial, i + 1)
end
local function enter(run, frame, batch, slot, serial, shapes)
    if frame == nil then return run(batch, columns(shapes, slot, serial, 1)) end
    return run(frame, batch, columns(shapes, slot, serial, 1))
end
return enter, reset, tick, make_wide, read_wide
)lua";

}  // namespace

const char* prelude_text() { return kPrelude; }

}  // namespace shoal::lua
