{-# LANGUAGE RecordWildCards #-}

-- | Linear algebra by OpenBLAS: through hmatrix, and by handwritten imports, safe and unsafe. Each
-- call compares with the result of plain Haskell.
module Algebra (calls) where

import Control.Exception (evaluate)
import Control.Monad (unless)
import qualified Data.Vector.Storable as V
import qualified Data.Vector.Storable.Mutable as M
import Foreign.C (CInt (..))
import Foreign.Marshal.Utils (with)
import Foreign.Ptr (Ptr)
import Foreign.Storable (peek)
import Numeric.LinearAlgebra (flatten, ident, linearSolve, lu, reshape, tr)
import qualified Numeric.LinearAlgebra as Matrix
import Oracle

-- | Each call with its name.
calls :: Problem -> [(String, IO ())]
calls p =
  [ ("hmatrix, product", productOf p),
    ("hmatrix, LU", factorsOf p),
    ("hmatrix, solve", solutionOf p),
    ("cblas_dgemm, safe", gemm safe_dgemm p),
    ("cblas_dgemm, unsafe", gemm unsafe_dgemm p),
    ("dgetrf, safe", factorise safe_dgetrf p),
    ("dgetrf, unsafe", factorise unsafe_dgetrf p),
    ("dgesv, safe", solve safe_dgesv p),
    ("dgesv, unsafe", solve unsafe_dgesv p)
  ]

productOf, factorsOf, solutionOf :: Problem -> IO ()
productOf Problem {..} = agree "product" leftRight (flatten (reshape size left Matrix.<> reshape size right))
factorsOf Problem {..} = do
  let (l, u, rows, _) = lu (reshape size system)
  agree "rows" (flatten (ident size)) (flatten rows)
  agree "lower factor" lower (flatten l)
  agree "upper factor" upper (flatten u)
solutionOf Problem {..} = case linearSolve (reshape size system) (reshape 1 rightSide) of
  Nothing -> error "hmatrix found no solution"
  Just x -> agree "solution" solution (flatten x)

type Gemm = CInt -> CInt -> CInt -> CInt -> CInt -> CInt -> Double -> Ptr Double -> CInt -> Ptr Double -> CInt -> Double -> Ptr Double -> CInt -> IO ()

gemm :: Gemm -> Problem -> IO ()
gemm call Problem {..} = do
  result <- M.replicate (size * size) (0 / 0)
  V.unsafeWith left $ \a -> V.unsafeWith right $ \b -> M.unsafeWith result $ \c ->
    call byRows asItIs asItIs n n n 1 a n b n 0 c n
  V.unsafeFreeze result >>= agree "product" leftRight
  where
    n = fromIntegral size
    (byRows, asItIs) = (101, 111)

type Getrf = Ptr CInt -> Ptr CInt -> Ptr Double -> Ptr CInt -> Ptr CInt -> Ptr CInt -> IO ()

-- | LAPACK stores matrices by columns.
factorise :: Getrf -> Problem -> IO ()
factorise call Problem {..} = do
  matrix <- V.thaw (transposed size system)
  pivots <- M.replicate size 0
  succeeds "dgetrf" $ \info -> with (fromIntegral size) $ \n -> M.unsafeWith matrix $ \a -> M.unsafeWith pivots $ \p ->
    call n n a n p info
  V.unsafeFreeze pivots >>= agree "pivots" (V.generate size (fromIntegral . (+ 1))) . V.map fromIntegral
  factors <- transposed size <$> V.unsafeFreeze matrix
  -- LAPACK does not store the ones of the lower factor.
  agree "factors" (V.zipWith (+) upper (V.zipWith (-) lower (flatten (ident size)))) factors

type Gesv = Ptr CInt -> Ptr CInt -> Ptr Double -> Ptr CInt -> Ptr CInt -> Ptr Double -> Ptr CInt -> Ptr CInt -> IO ()

solve :: Gesv -> Problem -> IO ()
solve call Problem {..} = do
  matrix <- V.thaw (flatten (tr (reshape size system)))
  pivots <- M.replicate size 0
  columns <- V.thaw rightSide
  succeeds "dgesv" $ \info -> with (fromIntegral size) $ \n -> with 1 $ \one -> M.unsafeWith matrix $ \a -> M.unsafeWith pivots $ \p -> M.unsafeWith columns $ \b ->
    call n one a n p b n info
  V.unsafeFreeze columns >>= agree "solution" solution

succeeds :: String -> (Ptr CInt -> IO ()) -> IO ()
succeeds name call = do
  answer <- with (-99) (\info -> call info >> peek info) >>= evaluate
  unless (answer == 0) (error (name ++ " answers " ++ show answer))

foreign import ccall safe "cblas_dgemm" safe_dgemm :: Gemm

foreign import ccall unsafe "cblas_dgemm" unsafe_dgemm :: Gemm

foreign import ccall safe "dgetrf_" safe_dgetrf :: Getrf

foreign import ccall unsafe "dgetrf_" unsafe_dgetrf :: Getrf

foreign import ccall safe "dgesv_" safe_dgesv :: Gesv

foreign import ccall unsafe "dgesv_" unsafe_dgesv :: Gesv
