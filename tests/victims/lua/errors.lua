-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- Errors: thrown and caught at every depth, through C, in handlers, while closing.
local function deep(n, what)
  if n == 0 then error(what, 0) end
  local r = deep(n - 1, what)
  return r
end
local sums = { 0, 0, 0 }
for i = 1, 3000 do
  local good, what = pcall(deep, i % 60, i)
  assert(not good and what == i)
  sums[1] = sums[1] + what
end
for i = 1, 1000 do
  local good, what = pcall(through, through, deep, i % 20, { i })
  assert(not good and what[1] == i)
  sums[2] = sums[2] + what[1]
end
for i = 1, 500 do
  local good, trace = xpcall(deep, function(m) return m .. "/" .. select("#", debug.traceback()) end, i % 30, tostring(i))
  assert(not good and trace == i .. "/1")
  sums[3] = sums[3] + #trace
end
print(sums[1], sums[2], sums[3])
-- Every kind of error that the machine makes itself
local kinds = {
  function() return 1 + {} end, function() return #5 end, function() return nil .. "x" end,
  function() local t; return t.x end, function() local t; t.x = 1 end, function() return {} < {} end,
  function() return 1 < "2" end, function() return undefined() end, function() return 1 // 0 end,
  function() return math.tointeger(2 ^ 53) << 1.5 end, function() string.rep("x", -1)() end,
  function() return ("x"):rep(1 << 40) end, function() setmetatable(1, {}) end, function() return next({}, "none") end,
  function() for i = 1, 10, 0 do end end, function() for i = "a", 2 do end end, function() error() end,
  function() error(nil) end, function() error({}) end, function() assert(false) end, function() assert(nil, "words") end,
  function() string.format("%d", 1.5) end, function() string.format("%y", 1) end, function() ("x"):find("[") end,
  function() ("x"):gsub("(", "") end, function() table.concat({ {} }) end, function() table.sort({ 3, 1, "x" }) end,
  function() coroutine.resume(1) end, function() coroutine.yield() end, function() load(5) end,
  function() return select(0) end, function() utf8.char(-1) end, function() utf8.codepoint("\xff", 1) end,
  function() table.unpack({}, 1, 1e8) end, function() rawset(1, 2, 3) end, function() rawlen(5) end,
  function() local t = setmetatable({}, { __index = function(t, k) error("index " .. k, 0) end }); return t.y end,
  function() local t = setmetatable({}, { __newindex = function(t, k) error("newindex " .. k, 0) end }); t.y = 1 end,
  function() return setmetatable({}, { __call = function() error("call", 0) end })() end,
  function() os.time({ year = "x" }) end, function() io.open("/nowhere/at/all"):read() end, function() io.lines("/nowhere") end,
}
for round = 1, 40 do
  for i, f in ipairs(kinds) do
    local good, what = pcall(f)
    if round == 1 then print(i, good, type(what) == "string" and what:gsub("^.-:%d+: ", ""):gsub("0x%x+", "ADDR") or type(what)) end
  end
end
-- Of a stack that overflows, in Lua and in C, and while an error is handled
local function forever(n) return 1 + forever(n + 1) end
for i = 1, 3 do
  local good, what = pcall(forever, 1)
  print(good, #what > 20)
  good, what = xpcall(forever, function(m) return forever(1) end, 1)
  print(good, type(what))
end
local function nested(n) return pcall(nested, n + 1) and n end
print(pcall(nested, 1))
print(pcall(string.rep, "x", -1))
local function matcher(s) return s:gsub(".", matcher) end
print(pcall(matcher, "x"))
-- Values that are closed as errors pass, some of which make errors themselves
local closed = 0
local function closing(n, bad)
  local v <close> = setmetatable({}, { __close = function(_, e)
    closed = closed + 1
    if bad and n % 3 == 0 then error("closing " .. n, 0) end
  end })
  if n == 0 then error("inner", 0) end
  closing(n - 1, bad)
  return v
end
for i = 1, 200 do
  local good, what = pcall(closing, i % 12, i % 2 == 0)
  assert(not good)
end
print(closed, select(2, pcall(closing, 7, true)))
-- Source text that is none
for _, text in ipairs { "x =", "for", "local x <const> = 1; x = 2", "goto nowhere", "return ...)", "x = 'open", "x = [[open", "::a:: ::a::",
    "break", "x = 0x", "x = '\\400'", "x = }", ("("):rep(300), "local " .. ("a,"):rep(250) .. "a", "return " .. ("-"):rep(1000) .. "1" } do
  local f, what = load(text, "=text")
  print(f == nil, what and what:sub(1, 70))
end
