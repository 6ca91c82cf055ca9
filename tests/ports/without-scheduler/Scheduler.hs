-- | The originals on scheduler are not compiled: the library is not installed.
module Scheduler (withScheduler) where

import Original (Original (..))

withScheduler :: String -> Int -> Original
withScheduler _ = Text
