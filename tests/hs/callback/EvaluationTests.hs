{-# LANGUAGE AllowAmbiguousTypes #-}
{-# LANGUAGE DerivingStrategies #-}
{-# LANGUAGE GeneralizedNewtypeDeriving #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE TypeApplications #-}
{-# LANGUAGE TypeFamilies #-}
{-# LANGUAGE UndecidableInstances #-}

-- | The arguments and results of callbacks.
module EvaluationTests (tests) where

import CFunctions
import qualified Capstan.Batch as Batch
import Capstan.Callback
import Check
import Control.Exception (ArithException (..), throw)
import Control.Monad (foldM, forM_, (>=>))
import Data.Int
import Data.Word
import Foreign.C.Types
import Foreign.Marshal.Alloc (alloca)
import Foreign.Ptr
import Foreign.StablePtr
import qualified Foreign.Storable as Storable
import System.Posix.Types

tests :: [Test]
tests =
  [ test "arguments in registers and on the stack" mixedArguments,
    test "narrow and single results" narrowResults,
    test "integers of every type" integers,
    test "truth, characters and pointers" others,
    test "a newtype of a foreign type" newtypes,
    test "the same newtype in a batch" newtypesInBatches,
    test "pure functions" pureFunctions,
    test "a pointer for the user" userPointer,
    test "outside of regions" serial,
    test "more functions than a page has" manyFunctions,
    test "a callback within a callback" within
  ]

-- | Every argument has its own weight, so no argument can stand for another.
mixedArguments :: IO ()
mixedArguments = do
  let function :: Mixed
      function a b c d e f g h i j k l m n o p q r s t =
        pure . sum $
          zipWith
            (\weight value -> fromIntegral (weight * weight * weight :: Int) * value)
            [1 ..]
            [ fromIntegral a,
              b,
              fromIntegral c,
              realToFrac d,
              fromIntegral e,
              f,
              fromIntegral g,
              realToFrac h,
              fromIntegral i,
              j,
              fromIntegral k,
              l,
              fromIntegral m,
              n,
              fromIntegral o,
              p,
              realToFrac q,
              r,
              fromIntegral s,
              realToFrac t
            ]
      given = [-1, 2, 65535, 4, -5, 6, -7, 8, 9, 10, -11, 12, -13, 14, -15, 16, 17, 18, -19, 20]
  got <- withCallback Released function callMixed
  equal "sum" (sum (zipWith (*) (map (^ (3 :: Int)) [1 ..]) given)) got

narrowResults :: IO ()
narrowResults = do
  narrow <- withCallback Released (pure . subtract 20) callNarrow
  equal "int8_t" (-120) narrow
  single <- withCallback Released (pure . (* 3)) callFloat
  equal "float" 4.5 single

-- | The result of a callback that returns its argument.
echo :: forall a. (Argument a, Returned a) => Int64 -> IO Int64
echo word = withCallback Released (pure :: a -> IO a) $ \f -> passWord (castFunPtr f) word

-- | An integer of a type shorter than the word is the lower part of the word, with the value of
-- that type.
integers :: IO ()
integers = do
  sequence_ [check @Int, check @Int8, check @Int16, check @Int32, check @Int64]
  sequence_ [check @Word, check @Word8, check @Word16, check @Word32, check @Word64]
  sequence_ [check @CChar, check @CSChar, check @CUChar, check @CShort, check @CUShort, check @CInt, check @CUInt]
  sequence_ [check @CLong, check @CULong, check @CLLong, check @CULLong, check @CSize, check @CPtrdiff]
  sequence_ [check @CIntPtr, check @CUIntPtr, check @CIntMax, check @CUIntMax, check @CBool, check @CWchar]
  sequence_ [check @CSigAtomic, check @CSsize, check @COff, check @CPid, check @CMode, check @CUid, check @Fd]
  -- These types are no instances of Integral.
  forM_ [echo @CTime, echo @CClock, echo @CSUSeconds] $ \same -> same (-5000000000) >>= equal "time" (-5000000000)
  echo @CUSeconds (-1) >>= equal "microseconds" 4294967295
  where
    check :: forall a. (Argument a, Returned a, Integral a) => IO ()
    check = forM_ [0, 100, -100, 0x123456789abcdef0, minBound, maxBound] $ \word ->
      echo @a word >>= equal "integer" (fromIntegral (fromIntegral word :: a))

others :: IO ()
others = do
  mapM (echo @Bool) [0, 1, 0x7700, 0x7701] >>= equal "of a bool's eight bits" [0, 1, 0, 1]
  forM_ "a\228\x10ffff" $ \c -> echo @Char (fromIntegral (fromEnum c)) >>= equal "character" (fromIntegral (fromEnum c))
  forM_ [echo @(Ptr ()), echo @(FunPtr ()), echo @CTimer] $ \same -> same (-8) >>= equal "pointer" (-8)
  stable <- newStablePtr 'x'
  got <- withCallback Released (deRefStablePtr >=> newStablePtr . succ) $ \f ->
    passWord (castFunPtr (f :: FunPtr (StablePtr Char -> IO (StablePtr Char)))) (asWord (castStablePtrToPtr stable))
  let new = castPtrToStablePtr (nullPtr `plusPtr` fromIntegral got)
  deRefStablePtr new >>= equal "stable" 'y'
  freeStablePtr new
  freeStablePtr stable
  where
    asWord p = fromIntegral (p `minusPtr` nullPtr)

newtype Metres = Metres Double
  deriving newtype (Argument, Eq, Num, Returned, Show)

foreign import ccall "&fabs" absolute :: FunPtr (Double -> Double)

newtypes :: IO ()
newtypes = do
  got <- withCallback Released twice $ \f -> serialSum (castFunPtr f) 10
  equal "metres" 90 got
  where
    twice :: Metres -> IO Metres
    twice = pure . (2 *)

-- | The same classes serve calls of C, so the test imports both modules whole.
newtypesInBatches :: IO ()
newtypesInBatches = do
  batch <- Batch.new 1
  key <- Batch.add batch (castFunPtr absolute :: FunPtr (Metres -> Metres)) (-3)
  Batch.run batch
  Batch.result batch key >>= equal "metres" 3

-- | The type of C's function pointer has no IO either.
pureFunctions :: IO ()
pureFunctions = do
  got <- withCallback Released (sqrt :: Double -> Double) $ \f -> regionSum (castFunPtr f) 2 5
  equal "roots" (2 * sum (map sqrt [0 .. 4])) got
  word <- withCallback Kept (negate :: CIntPtr -> CIntPtr) $ \f -> passWord (castFunPtr f) 5
  equal "negated" (-5) word
  failed <- throws (withCallback Released (\x -> if x > 2 then throw Overflow else x :: Double) (\f -> regionSum (castFunPtr f) 2 5))
  equal "exception" Overflow failed

userPointer :: IO ()
userPointer = forM_ [Released, Kept] $ \mode -> alloca $ \place -> do
  Storable.poke place (7 :: Double)
  let function user index = do
        x <- Storable.peek user
        pure (index * truncate x)
  got <- withCallback mode function $ \f -> regionFold f place 3 1000
  equal (show mode) (7 * 499500) got

serial :: IO ()
serial = forM_ [Released, Kept] $ \mode -> do
  got <- withCallback mode (pure . (+ 1)) $ \f -> serialSum f 1000
  equal (show mode) 500500 got

-- | Each of 500 simultaneous callbacks is a function of its own.
manyFunctions :: IO ()
manyFunctions = with [] (500 :: Int)
  where
    with functions 0 = do
      total <- foldM (\s f -> (s +) <$> regionSum f 2 1) 0 functions
      equal "all" (2 * sum [1 .. 500]) total
    with functions n = withCallback Released (const (pure (fromIntegral n))) $ \f -> with (f : functions) (n - 1)

-- | A callback calls C, which calls another callback, of the other mode.
within :: IO ()
within = do
  got <- withCallback Released (\x -> pure (x + 1)) $ \inner ->
    withCallback Kept (\x -> (+ x) <$> regionSum (inner :: FunPtr Real1) 1 10) $ \outer ->
      regionSum outer 1 3
  equal "sum" (3 * 55 + 3) (got :: Double)
