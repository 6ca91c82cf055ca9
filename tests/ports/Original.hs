-- | The program that a port was before.
module Original (Original (..)) where

data Original
  = -- | It is here, and gives a number for a size.
    Compiled (Int -> IO Int)
  | -- | It is text, as its library is not installed: the number that it has given for the small size.
    Text Int
