const std = @import("std");

pub const Server = struct {
    port: u16,

    pub fn init(port: u16) Server {
        return .{ .port = port };
    }
};

pub fn main() !void {
    const x = 1;
}

test "it" {
}
