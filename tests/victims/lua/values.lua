-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- Values: closures, tables, metatables, strings and their patterns, numbers, sorting, collection of garbage, files.
local function counter() local n = 0; return function() n = n + 1; return n end, function(v) n = v end end
local get, set = counter(); get(); set(41); print(get())
local function compose(f, g, ...) if not g then return f end; local rest = compose(g, ...); return function(...) return f(rest(...)) end end
local function add(a) return function(b) return a + b end end
local chain = add(0)
for i = 1, 150 do chain = compose(add(i), chain) end
print(chain(5))
local function fib(n) if n < 2 then return n end; return fib(n - 1) + fib(n - 2) end
local function ack(m, n) if m == 0 then return n + 1 elseif n == 0 then return ack(m - 1, 1) end; return ack(m - 1, ack(m, n - 1)) end
local function tail(n, acc) if n == 0 then return acc end; return tail(n - 1, acc + n) end
local function varied(...) return select("#", ...), (select(-1, ...)) end
print(fib(22), ack(2, 60), tail(100000, 0), varied(table.unpack({}, 1, 200)), varied(nil, false))
-- Classes
local Base = {}; Base.__index = Base
function Base.new(c, v) return setmetatable({ v = v }, c) end
function Base:get() return self.v end
Base.__add = function(a, b) return Base.new(getmetatable(a), a.v + b.v) end
Base.__eq = function(a, b) return a.v == b.v end
Base.__lt = function(a, b) return a.v < b.v end
Base.__le = function(a, b) return a.v <= b.v end
Base.__tostring = function(a) return "<" .. a.v .. ">" end
Base.__concat = function(a, b) return tostring(a) .. tostring(b) end
Base.__unm = function(a) return Base.new(getmetatable(a), -a.v) end
Base.__len = function(a) return a.v end
Base.__idiv = function(a, b) return a.v // b.v end
Base.__band = function(a, b) return a.v & b.v end
Base.__shl = function(a, b) return a.v << b end
local Derived = setmetatable({}, Base); for k, v in pairs(Base) do Derived[k] = v end; Derived.__index = Derived
function Derived:get() return Base.get(self) * 2 end
local objects = {}
for i = 1, 2000 do objects[i] = (i % 2 == 0 and Base or Derived):new(i * 7919 % 2003) end
table.sort(objects)
local total = objects[1]
for i = 2, #objects do total = total + objects[i] end
print(tostring(total), total:get(), -total .. "", #total, objects[1] == objects[2], objects[1] <= objects[2], total // objects[2000], total & objects[9], objects[9] << 2)
local proxy = setmetatable({}, { __index = function(t, k) return k * k end, __newindex = function(t, k, v) rawset(t, k, -v) end,
  __pairs = function(t) return function(_, k) k = (k or 0) + 1; if k < 5 then return k, t[k] end end, t end })
proxy[3] = 10
for k, v in pairs(proxy) do io.write(k, "=", v, " ") end
print(rawget(proxy, 3), rawequal(proxy, proxy))
-- Strings
local text = ("The quick brown fox jumps over the lazy dog; 123 4567, (a(b)c) [x] key=value other=thing %%%"):rep(20)
for _, pattern in ipairs { "%w+", "(%w+)=(%w+)", "%b()", "%f[%a]%a+%f[%A]", "[^%s]+", "()o()", "(q)(.-)(x)", "%d%d?%d?", ".-;", "[%[%]x]", "%%+", "(.)%1", "^The", "dog.-$" } do
  local n, length = 0, 0
  for a, b in text:gmatch(pattern) do n = n + 1; length = length + #tostring(a) + #tostring(b or "") end
  print(pattern, n, length, text:find(pattern), (select(2, text:gsub(pattern, "<%0>"))))
end
print((text:sub(1, 60):gsub("%w+", { quick = "slow", fox = false }):gsub("o", function(c) return c:upper() end)))
print(("x"):rep(3, ","), ("abc"):reverse(), ("abc"):byte(1, -1), ("%5.2f|%-8s|%q|%x|%g|%c|%i"):format(math.pi, "left", 'a "b"\n', 255, 1e100, 65, -3))
local packed = string.pack("<i4>I2z s1 d", -5, 513, "zero", "len", 0.5)
print(#packed, string.unpack("<i4>I2z s1 d", packed))
for p, c in utf8.codes("aé€😀") do io.write(p, ":", c, " ") end
print(utf8.len("aé€😀"), utf8.char(97, 233, 8364, 128512), utf8.offset("aé€😀", 3))
local parts = {}
for i = 1, 5000 do parts[#parts + 1] = ("%d:%s"):format(i, tostring(i / 3)) end
local joined = table.concat(parts, ";")
local hash = 5381
for i = 1, #joined do hash = (hash * 33 ~ joined:byte(i)) & 0xffffffff end
print(#joined, hash, tostring(2 ^ 63), math.maxinteger + 1 == math.mininteger, 7 // -2, 7 % -3, -7 // 2.0, 5.5 % -2, 1e15, 2 ^ 53 | 0, "10" + 5, 0x7fp-3, math.ult(1, -1))
-- Tables
local t = {}
for i = 1, 20000 do t[i * 31 % 20011] = i end
for i = 1, 20000, 3 do t[i] = nil end
local n, s = 0, 0
for k, v in pairs(t) do n, s = n + 1, s + k ~ v end
print(n, s, next({}), #table.pack(table.unpack({ 1, 2, nil, 4 }, 1, 4)))
local list = {}
for i = 1, 3000 do table.insert(list, i % 5 == 0 and 1 or #list + 1, i * 7919 % 3001) end
for i = 1, 500 do table.remove(list, i % #list + 1) end
table.sort(list, function(a, b) return a > b end)
print(#list, list[1], list[#list], table.concat(table.move(list, 1, 5, 3, {}), ",", 3))
-- Garbage: weak tables, finalizers that make errors, both kinds of collection
for _, mode in ipairs { "incremental", "generational" } do
  collectgarbage(mode)
  local weak, gone = setmetatable({}, { __mode = "k" }), 0
  for i = 1, 3000 do
    local o = setmetatable({ i }, { __gc = function(o) gone = gone + 1 end })
    weak[o] = { o }
    if i % 500 == 0 then collectgarbage("step", 10) end
  end
  collectgarbage(); collectgarbage()
  print(mode, gone, next(weak))
end
-- Code that is made
local made = 0
for i = 1, 400 do
  local f = assert(load(("local a, b = ...; local function f(x) if x %% %d == 0 then return x + %d end; return f(x - 1) end; return f(a) * b"):format(i % 9 + 2, i)))
  made = made + f(i, 2)
  local g = load(string.dump(f, i % 2 == 0))
  assert(g(i, 2) == f(i, 2))
end
print(made)
-- Files
local file = io.tmpfile()
for i = 1, 1000 do file:write(i, " ", i / 4, "\n") end
file:seek("set")
local lines, numbers = 0, 0
for a in file:lines("n") do numbers = numbers + a; lines = lines + 1 end
file:seek("set", 0)
print(lines, numbers, file:read("l", "n", "L", 5), file:seek("end"), io.type(file), file:close(), io.type(file))
-- Hooks
local calls = 0
debug.sethook(function(e) calls = calls + 1 end, "cr")
fib(12); pcall(error, "x")
debug.sethook()
print(calls > 500, debug.getinfo(1, "l").currentline > 100, os.date("!%Y-%m-%d", 86400), #os.tmpname() > 0)
