//! Crate docs.

use std::fmt;
pub mod net;

pub const LIMIT: usize = 10;

/// A point. In space.
#[derive(Debug, Clone)]
pub struct Point<'a> {
    x: &'a str,
}

impl<'a> Point<'a> {
    /// Makes one.
    pub fn new(x: &'a str) -> Self {
        let q = '"';
        Point { x }
    }

    pub(crate) async unsafe fn go<T>(&self, t: T) -> Result<(), Error>
    where
        T: Send,
    {
        Ok(())
    }
}

impl fmt::Display for Point<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.x)
    }
}

pub trait Shape {
    fn area(&self) -> f64;
}

pub enum Kind { A, B }

macro_rules! my_vec {
    ($($x:expr),*) => { };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() {
        assert_eq!(1, 1);
    }
}
