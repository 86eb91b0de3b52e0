//! Module doc.
const std = @import("std");
const Foo = @import("foo.zig").Foo;
pub const mem = std.mem;
/// A server.
pub const Server = struct {
    addr: []const u8,
    conn: *Conn = undefined,
    const Self = @This();
    pub const Err = error{ A, B };
    pub fn init(a: std.mem.Allocator, port: u16) !Server {
        const c = Conn.init(port);
        var d: Foo = undefined;
        try c.open().go(a);
        return Self{ .addr = "x" };
    }
    fn stop(self: *Self) void { self.conn.close(); helper(1); }
};
const K = enum { a, b, pub fn f() void {} };
const U = union(enum) { x: u32, y: Foo };
var counter: u32 = 0;
extern fn cfn(x: c_int) c_int;
export fn exp() void {}
fn helper(comptime T: type) type { return struct { x: T, fn g() void {} }; }
test "basic" { try std.testing.expect(true); }
test Server { }
