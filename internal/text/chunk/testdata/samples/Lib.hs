module Lib where

import Data.List

-- | A tree.
data Tree a = Leaf | Node a

-- | Inserts.
insert :: Ord a => a -> Tree a -> Tree a
insert x Leaf = Node x
insert x t = t

foldr' :: Int
foldr' = 1
