import UIKit

@objc public class View: UIView {
    override public func draw(_ rect: CGRect) {
        let s = """
        func no() {}
        """
    }

    init(a: Int) {
    }
}

extension View {
    func extra() -> Int { 1 }
}

protocol P {
    func p()
}
