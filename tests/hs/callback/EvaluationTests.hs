-- | What goes in and what comes out.
module EvaluationTests (tests) where

import CFunctions
import Capstan.Callback
import Check
import Control.Monad (foldM, forM_)
import Foreign.Marshal.Alloc (alloca)
import Foreign.Ptr (FunPtr)
import qualified Foreign.Storable as Storable

tests :: [Test]
tests =
  [ test "arguments in registers and on the stack" mixedArguments,
    test "narrow and single results" narrowResults,
    test "a pointer for the user" userPointer,
    test "outside of regions" serial,
    test "more functions than a page has" manyFunctions,
    test "a callback within a callback" within
  ]

-- | Every argument has a weight of its own, so none can stand for another.
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

-- | 500 at once, each its own.
manyFunctions :: IO ()
manyFunctions = with [] (500 :: Int)
  where
    with functions 0 = do
      total <- foldM (\s f -> (s +) <$> regionSum f 2 1) 0 functions
      equal "all" (2 * sum [1 .. 500]) total
    with functions n = withCallback Released (const (pure (fromIntegral n))) $ \f -> with (f : functions) (n - 1)

-- | A callback that calls C that calls another one, of the other mode.
within :: IO ()
within = do
  got <- withCallback Released (\x -> pure (x + 1)) $ \inner ->
    withCallback Kept (\x -> (+ x) <$> regionSum (inner :: FunPtr Real1) 1 10) $ \outer ->
      regionSum outer 1 3
  equal "sum" (3 * 55 + 3) (got :: Double)
