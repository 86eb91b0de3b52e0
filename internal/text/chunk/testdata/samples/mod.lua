local M = {}

--- Adds.
-- More.
function M.add(a, b)
  return a + b
end

local function helper()
end

M.sub = function(a)
  return a
end

function M:method()
end

return M
