{-# LANGUAGE Foo #-}
module Data.Foo.Bar (f, T(..)) where
import qualified Data.Map as M
import Data.List (sort, nub)
import Prelude hiding (lookup)
import Foo.Baz
-- | A thing.
data T a = A Int | B { fieldX :: a, fieldY :: String } deriving (Show, Eq)
newtype N = N { unN :: Int }
type Al = M.Map Int String
class (Eq a) => C a where
  meth :: a -> Int
  meth x = go x
  type Fam a
instance C Int where
  meth x = f x
-- | Doc of f.
f :: Int -> Int
f 0 = 1
f n = n * g (n - 1)
g x = let y = M.lookup x m in h y where
  h z = z
(<+>) :: Int -> Int -> Int
a <+> b = a + b
x `op` y = x
infixl 6 <+>
foreign import ccall "sin" c_sin :: Double -> Double
pattern P x = A x
type family F a where
  F Int = Bool
deriving instance Show N
main :: IO ()
main = do
  r <- M.foldr f 0 z
  print $ map f [1]
