-- | Two stages that run at the same time, joined by a channel.
module Domainslib.Stages.Port (program) where

import Capstan.Chan
import Capstan.Task
import Control.Monad (foldM, forM_)

program :: Int -> IO Int
program count = run $ \scope -> do
  squares <- newBounded 16
  _ <- async scope $
    forM_ [1 .. count] $ \n ->
      send squares (n * n `mod` 1009)
  foldM (\total _ -> (total +) <$> recv squares) 0 [1 .. count]
