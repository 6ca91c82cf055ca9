-- |
-- Module      : Capstan.Event.Failure
-- Description : The answers of C calls, as exceptions
module Capstan.Event.Failure
  ( check,
    named,
    failure,
  )
where

import Control.Monad (unless)
import Data.Word (Word64)
import Foreign.C.Error (Errno (..), eBUSY, eSHUTDOWN, errnoToIOError)
import Foreign.C.Types (CInt)
import System.IO.Error (ioeSetErrorString)

-- | Throws the 'IOError' for an errno value that is not 0.
check :: String -> CInt -> IO ()
check name code = unless (code == 0) (failure name (Errno code))
{-# INLINE check #-}

-- | The name of a registration or timer. Throws the 'IOError' if it is an errno value.
named :: String -> Word64 -> IO Word64
named name ident
  | ident > 0xffffffff = pure ident
  | otherwise = failure name (Errno (fromIntegral ident))
{-# INLINE named #-}

-- | Throws the 'IOError' for a value of errno, with the name of the function.
failure :: String -> Errno -> IO a
failure name errno = ioError (maybe id (flip ioeSetErrorString) reason plain)
  where
    plain = errnoToIOError ("Capstan.Event." ++ name) errno Nothing Nothing
    -- The system's texts for these two values are about sockets and devices.
    reason
      | errno == eSHUTDOWN = Just "the manager was shut down"
      | errno == eBUSY = Just "another thread drives the manager"
      | otherwise = Nothing
