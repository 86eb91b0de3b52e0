--- Doc.
-- more
local M = {}
local util = require("a.b")
local x = require 'c.d'.sub
require("side")
local Foo <const> = setmetatable({}, {})
M.const = 3
MAX = 1
-- adds
function M.add(a, b)
  local c = util.sum(a, b)
  M.other(c)
  self.x = 1
  return c
end
function M:method(q, ...)
  self:other(q)
  self.field.y:go()
  M.super.init(self)
  local function inner(z) return z end
  for i, v in ipairs(q) do v:run() end
  for k = 1, 2 do print(k) end
end
M.arrow = function(s) s() end
local function helper() end
local lf = function() end
local t = { a = function() end, ["b"] = function() end, c = 1 }
function global() end
M["x"] = function() end
M.nested = { run = function(self) end }
vim.api.nvim_create_autocmd("X", { callback = function() foo.bar"str" end })
local obj = Foo.new(1)
obj:run()
return M
