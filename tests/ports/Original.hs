-- | The original program of a port.
module Original (Original (..)) where

data Original
  = -- | The original is compiled here; the function gives a number for a size.
    Compiled (Int -> IO Int)
  | -- | The original is only text, as its library is not installed; the number is its result for
    -- the small size.
    Text Int
