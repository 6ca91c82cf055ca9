{-# LANGUAGE ForeignFunctionInterface #-}

-- | The foreign calls of the host programs.
module Region (region, plain, work, locked) where

import Control.Monad (unless)
import Foreign.C.Types (CDouble (..), CInt (..))

foreign import ccall safe "host_region" hostRegion :: CInt -> IO CDouble

foreign import ccall safe "host_plain" hostPlain :: IO CDouble

foreign import ccall unsafe "host_work" hostWork :: CInt -> IO CDouble

foreign import ccall unsafe "host_locked" hostLocked :: IO CDouble

-- | A region behind a spin lock that keeps its Capability. Its size is the number of threads that the
-- runtime names.
locked :: IO ()
locked = hostLocked >>= check

-- | A region with a number of threads that keeps its Capability: 0.2 ms of work for each thread.
work :: CInt -> IO ()
work threads = hostWork threads >>= check . (/ fromIntegral threads)

-- | A region with a number of threads. The sum of sines must be right.
region :: CInt -> IO ()
region threads = hostRegion threads >>= check

-- | The same work without a region.
plain :: IO ()
plain = hostPlain >>= check

check :: CDouble -> IO ()
check sum' = unless (abs (sum' - 459.28) < 0.1) (error ("a region computed " ++ show sum'))
