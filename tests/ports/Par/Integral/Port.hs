-- | An integral by small steps, which are added up in parallel.
module Par.Integral.Port (program) where

import Capstan.Task.Par (InclusiveRange (..), parMapReduceRange, runPar)

program :: Int -> IO Int
program steps = pure $! round (1e6 * runPar (parMapReduceRange (InclusiveRange 0 (steps - 1)) (pure . area) (\a b -> pure (a + b)) 0))
  where
    area k = let x = (fromIntegral k + 0.5) / fromIntegral steps in 4 / (1 + x * x) / fromIntegral steps :: Double
