-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- Coroutines: that yield at every depth, through C, in metamethods and iterators; that end by errors, are closed or left.
local function tree(n) return n > 0 and { tree(n - 1), n, tree(n - 1) } or nil end
local function walk(t) if t then walk(t[1]); coroutine.yield(t[2]); walk(t[3]) end end
local sum = 0
for v in coroutine.wrap(function() walk(tree(12)) end) do sum = sum + v end
print("tree", sum)
local function generate(n) return coroutine.wrap(function() for i = 2, n do coroutine.yield(i) end end) end
local function sieve(p, source) return coroutine.wrap(function() for i in source do if i % p ~= 0 then coroutine.yield(i) end end end) end
local source, primes = generate(400), {}
while true do
  local p = source()
  if not p then break end
  primes[#primes + 1] = p
  source = sieve(p, source)
end
print("primes", #primes, primes[#primes])
local made = {}
for i = 1, 500 do
  made[i] = coroutine.create(function(a)
    local n = 0
    while n < i do
      n = n + 1
      a = coroutine.yield(a + n)
      if i % 7 == 0 and n == 5 then error("seventh " .. i, 0) end
    end
    return "over", a
  end)
end
local counts = { over = 0, failed = 0, live = 0 }
for turn = 1, 60 do
  for i = 1, #made do
    local co = made[i * 7 % #made + 1]
    if coroutine.status(co) == "suspended" then
      local good, what = coroutine.resume(co, turn)
      if not good then counts.failed = counts.failed + 1
      elseif what == "over" then counts.over = counts.over + 1 end
    end
  end
end
for _, co in ipairs(made) do if coroutine.status(co) == "suspended" then counts.live = counts.live + 1; assert(coroutine.close(co)) end end
print("many", counts.over, counts.failed, counts.live)
-- Through calls of C that can be suspended, and through one that cannot
local co = coroutine.wrap(function() return suspends(function(a) return coroutine.yield(a + 1) * 2 end, 10) end)
print(co(), co(21))
print(pcall(coroutine.wrap(function() through(coroutine.yield, 1) end)))
print(select("#", table.unpack({ pcall(function() return coroutine.wrap(function() return pcall(coroutine.yield, 5) end)() end) })))
for i = 1, 300 do
  local c = coroutine.wrap(function()
    local good, what = pcall(function() coroutine.yield(1); error(i, 0) end)
    coroutine.yield(what)
    local good2, what2 = xpcall(function() coroutine.yield(2); local x = nil + 1 end, function(m) return "handled" end)
    return what2
  end)
  assert(c() == 1 and c() == i and c() == 2 and c() == "handled")
end
local meta = setmetatable({}, { __index = function(t, k) return coroutine.yield(k) end, __add = function(a, b) return coroutine.yield("add") end,
  __lt = function() return coroutine.yield("lt") end, __concat = function() return coroutine.yield("concat") end, __close = function() coroutine.yield("close") end,
  __call = function(t, ...) return coroutine.yield(select("#", ...)) end, __eq = function() return coroutine.yield("eq") end, __len = function() return coroutine.yield("len") end })
co = coroutine.wrap(function()
  local v <close> = meta
  local got = { meta.x, meta + 1, meta < meta, meta .. "x", meta(1, 2, 3), meta == setmetatable({}, getmetatable(meta)), #meta }
  return #got
end)
local said = {}
for i = 1, 9 do said[i] = tostring(co(i)) end
print(table.concat(said, " "))
local function permutations(a, n)
  n = n or #a
  if n <= 1 then coroutine.yield(table.concat(a)) else
    for i = 1, n do a[n], a[i] = a[i], a[n]; permutations(a, n - 1); a[n], a[i] = a[i], a[n] end
  end
end
local n, last = 0
for p in coroutine.wrap(function() permutations { "a", "b", "c", "d", "e", "f" } end) do n, last = n + 1, p end
print("permutations", n, last)
local function inside(n) return n == 0 and coroutine.running() and 1 or 1 + coroutine.wrap(inside)(n - 1) end
print("nested", inside(60), (pcall(inside, 250)))
for i = 1, 2000 do coroutine.wrap(function() local t = { i }; coroutine.yield(t) end)() end
collectgarbage()
