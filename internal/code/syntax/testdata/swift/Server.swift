import Foundation
@testable import struct MyLib.Foo
/// A server.
@objc public final class Server<T: Codable>: Base, Proto where T: Foo {
    let addr: String
    private var conns: [Conn] = [], x = 1
    static let shared = Server()
    weak var delegate: ServerDelegate?
    var computed: Int { return addr.count }
    init(addr: String) { self.addr = addr; super.init() }
    deinit { close() }
    func start(on port: Int, with h: Handler?) throws -> Bool {
        let c = Conn(port)
        guard let d = delegate else { return false }
        c.open().go(port)
        let y: Foo = .bar
        conns.forEach { k in k.close() }
        func nested() {}
        if c is Other { (c as! Other).x() }
        return MyLib.check(d)
    }
    subscript(i: Int) -> Int { i }
    typealias Al = Int
    struct Inner { var z: Int }
    enum K: String { case a, b(Int); case c = "x" }
}
protocol Proto: Other { associatedtype Item; func f(x: Int) -> Item; var p: Int { get } }
extension Server: Equatable where T: Eq { static func == (l: Server, r: Server) -> Bool { true } }
extension Array { func ext() {} }
struct S { }
actor A { }
let top = 3
func topf<T>(_ a: T) async { Server.shared.start(on: 1, with: nil) }
#if DEBUG
func dbg() {}
#endif
