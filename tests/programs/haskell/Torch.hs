-- | Torch from Haskell. The argument is the number of threads that compute beside it.
module Main (main) where

import Callers
import Data.Int (Int64)
import qualified Data.Vector.Storable as V
import qualified Data.Vector.Storable.Mutable as M
import Foreign.Ptr (Ptr)
import Oracle
import System.Environment (getArgs)

main :: IO ()
main = getArgs >>= test calls . read . concat

calls :: Problem -> [(String, IO ())]
calls p =
  [ ("torch's product, safe", productBy safe_product p),
    ("torch's product, unsafe", productBy unsafe_product p),
    ("torch's elements, safe", elements)
  ]
  where
    elements = do
      result <- M.replicate (V.length many) (0 / 0)
      V.unsafeWith many $ \a -> M.unsafeWith result (c_elements (fromIntegral (V.length many)) a)
      V.unsafeFreeze result >>= agree "elements" (V.map (\x -> 2 * x + 1) many)
    -- Torch divides tensors of more than 32768 elements.
    many = V.concat (replicate 4 (left p))

productBy :: (Int64 -> Ptr Double -> Ptr Double -> Ptr Double -> IO ()) -> Problem -> IO ()
productBy call p = do
  result <- M.replicate (size p * size p) (0 / 0)
  V.unsafeWith (left p) $ \a -> V.unsafeWith (right p) $ \b -> M.unsafeWith result (call (fromIntegral (size p)) a b)
  V.unsafeFreeze result >>= agree "product" (leftRight p)

foreign import ccall safe "torch_product" safe_product :: Int64 -> Ptr Double -> Ptr Double -> Ptr Double -> IO ()

foreign import ccall unsafe "torch_product" unsafe_product :: Int64 -> Ptr Double -> Ptr Double -> Ptr Double -> IO ()

foreign import ccall safe "torch_elements" c_elements :: Int64 -> Ptr Double -> Ptr Double -> IO ()
