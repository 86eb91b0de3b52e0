//! Crate docs.
use std::{fmt, io::{self, Read as R, *}};
pub use crate::a::b::C as D;
use super::x;
pub mod util;
mod inner { fn f() {} }
extern crate serde as sd;

/// A server.
#[derive(Debug, Clone)]
pub struct Server<T: Foo + 'static> where T: Bar {
    /// addr
    pub addr: Option<String>,
    inner: Arc<Mutex<Inner>>,
}
struct Unit;
pub struct Tup(u32, pub Foo);
enum E { A, B(u32), C { x: i32 }, }
union U { a: u32, b: f32 }
type Al<T> = Vec<T>;
pub const MAX: usize = 10;
static mut G: u32 = 1;
macro_rules! my { ($x:expr) => { $x }; }
impl<T> fmt::Display for Server<T> {
    type Out = u32;
    const X: u32 = 1;
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x: Foo = Foo::new(1);
        let y = crate::bar::Baz { a: 1, ..Default::default() };
        let Some(z) = self.inner.lock().unwrap() else { return };
        for i in 0..10 { self.go(i)?; }
        let c = |a, b: u32| a + b;
        if let Some(q) = x.next() { println!("{}", q.foo()); }
        match y { E::A => 1, E::B(n) => n, Foo { a, b: c } => 2 }
        Vec::<u32>::with_capacity(3);
        let v = iter.collect::<Vec<_>>();
        fn nested() {}
        self.field.sub = MAX;
        <T as Foo>::bar(x);
        let w = x as u64;
        unsafe { G += 1; }
    }
}
pub trait Foo: Bar + Send { fn a(&self); fn b(&mut self, x: &dyn Any) -> Box<dyn Foo> { todo!() } type Item; const N: u32; }
impl Server<u32> { pub async fn new() -> Self { Self { addr: None } } }
extern "C" { fn cfn(x: i32) -> i32; static S: i32; }
lazy_static! { static ref RE: Regex = Regex::new("x"); }
#[test]
fn t() {}
