-- | The contents of an ELF file, as far as the loader reads them.
--
-- The file may be hostile or cut short, so every access is checked, and unreadable parts are
-- absent. A number in the file never decides how long the reader works. Tables end with the bytes
-- of the file, and bytes, strings and names are bounded ('mostBytes' and the bounds after it).
-- Beyond its header, the reader reads only files of this processor's kind (64 bits, little endian).
module Capstan.CLI.Elf
  ( Elf (..),
    Body (..),
    readElf,
    isNative,
    Machine (..),
  )
where

import Control.Exception (IOException, try)
import Control.Monad (guard)
import Data.Bits (shiftL, testBit, (.|.))
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.Either (fromRight)
import Data.List (find, foldl')
import Data.Maybe (catMaybes, fromMaybe, listToMaybe, mapMaybe)
import Data.Word (Word64)
import System.IO

-- | The common processors; other processors by number.
data Machine = X86_64 | I386 | AArch64 | OtherMachine Int
  deriving (Eq, Show)

-- | An ELF file.
data Elf = Elf
  { elfBits :: Int,
    elfMachine :: Machine,
    -- | The loader that the program asks for.
    elfInterpreter :: Maybe FilePath,
    -- | The dynamic section; absent in a static program.
    elfBody :: Maybe Body
  }
  deriving (Show)

-- | The dynamic section, with the symbols that were asked for.
data Body = Body
  { bodyNeeded :: [FilePath],
    bodySoname :: Maybe FilePath,
    -- | @DT_FILTER@: the library that has the code of this object's symbols.
    bodyFilter :: Maybe FilePath,
    -- | @DT_RPATH@ or @DT_RUNPATH@, as written.
    bodyRunPath :: Maybe String,
    -- | Whether the object's own symbols come first for its own references, even before preloaded
    -- symbols.
    bodySymbolic :: Bool,
    bodyDefined :: [C.ByteString],
    bodyUndefined :: [C.ByteString]
  }
  deriving (Show)

-- | Whether the loader can load the second file into the same process as the first. The first file
-- is this command, whose kind is that of the runtime.
isNative :: Elf -> Elf -> Bool
isNative self other = elfBits self == elfBits other && elfMachine self == elfMachine other

-- | Reads an ELF file, keeping the symbols that satisfy the predicate.
-- 'Nothing' when it is no ELF file or cannot be read.
readElf :: (C.ByteString -> Bool) -> FilePath -> IO (Maybe Elf)
readElf wanted file = do
  result <- try (withBinaryFile file ReadMode (parse wanted)) :: IO (Either IOException (Maybe Elf))
  pure (fromRight Nothing result)

-- A number with the given width in bytes.
number :: Int -> Int -> B.ByteString -> Maybe Word64
number width at bytes
  | at < 0 || at + width > B.length bytes = Nothing
  | otherwise = Just (B.foldr' (\byte rest -> rest `shiftL` 8 .|. fromIntegral byte) 0 (B.take width (B.drop at bytes)))

int :: Int -> Int -> B.ByteString -> Maybe Int
int width at bytes = fromIntegral <$> number width at bytes

-- The bound of one table: the largest libraries have a tenth of it.
mostBytes :: Word64
mostBytes = 64 * 1024 * 1024

-- The bound of the dynamic section: a program has some dozens of entries.
mostDynamic :: Word64
mostDynamic = 16 * 4096

-- The bound of a path: Linux refuses longer paths.
mostPath :: Int
mostPath = 4096

-- The bound of a name: files and functions of OpenMP runtimes have shorter names.
mostName :: Int
mostName = 256

-- The bytes that a file has in a range.
range :: Handle -> Word64 -> Word64 -> IO B.ByteString
range handle offset size = do
  end <- hFileSize handle
  if toInteger offset > end
    then pure B.empty
    else do
      hSeek handle AbsoluteSeek (toInteger offset)
      B.hGet handle (fromInteger (min (toInteger (min size mostBytes)) (end - toInteger offset)))

-- The string at a place of a table, cut to the given length.
text :: Int -> Word64 -> B.ByteString -> B.ByteString
text most at table
  | at >= fromIntegral (B.length table) = B.empty
  | otherwise = B.takeWhile (/= 0) (B.take most (B.drop (fromIntegral at) table))

data Segment = Segment
  { segmentType :: Word64,
    segmentOffset :: Word64,
    segmentAddress :: Word64,
    segmentSize :: Word64
  }

parse :: (C.ByteString -> Bool) -> Handle -> IO (Maybe Elf)
parse wanted handle = do
  header <- range handle 0 64
  case (,,) <$> int 1 4 header <*> int 1 5 header <*> int 2 18 header of
    Just (bits, order, machine) | B.take 4 header == C.pack "\DELELF" -> do
      let elf = Elf (if bits == 2 then 64 else 32) (machineOf machine) Nothing Nothing
      if bits == 2 && order == 1
        then Just <$> parseNative wanted handle header elf
        else pure (Just elf)
    _ -> pure Nothing

machineOf :: Int -> Machine
machineOf code = case code of
  3 -> I386
  62 -> X86_64
  183 -> AArch64
  other -> OtherMachine other

parseNative :: (C.ByteString -> Bool) -> Handle -> B.ByteString -> Elf -> IO Elf
parseNative wanted handle header elf = do
  let at width offset = fromMaybe 0 (number width offset header)
      entry = 56
  table <- range handle (at 8 32) (at 2 56 * entry)
  let segments = mapMaybe (segment table) [0, fromIntegral entry .. B.length table - 1]
      ofType kind = find ((== kind) . segmentType) segments
      contents = maybe (pure B.empty) (\s -> range handle (segmentOffset s) (segmentSize s))
  interpreter <- contents (ofType 3)
  dynamic <- B.take (fromIntegral mostDynamic) <$> contents (ofType 2)
  body <-
    if B.null dynamic
      then pure Nothing
      else Just <$> parseDynamic wanted handle segments dynamic
  pure
    elf
      { elfInterpreter = if B.null interpreter then Nothing else Just (C.unpack (text mostPath 0 interpreter)),
        elfBody = body
      }
  where
    segment table offset =
      Segment
        <$> number 4 offset table
        <*> number 8 (offset + 8) table
        <*> number 8 (offset + 16) table
        <*> number 8 (offset + 32) table

parseDynamic :: (C.ByteString -> Bool) -> Handle -> [Segment] -> B.ByteString -> IO Body
parseDynamic wanted handle segments dynamic = do
  strings <- region (tag 5) (fromMaybe 0 (tag 10))
  count <- countSymbols tag region
  symbols <- region (tag 6) (min mostBytes (fromIntegral count * symbolSize))
  let names = mapMaybe (symbol strings symbols) [0, fromIntegral symbolSize .. B.length symbols - fromIntegral symbolSize]
      string most value = C.unpack (text most value strings)
  pure
    Body
      { bodyNeeded = map (string mostName) (tags 1),
        bodySoname = string mostName <$> tag 14,
        bodyFilter = string mostName <$> tag 0x7fffffff,
        bodyRunPath = string mostPath <$> listToMaybe (catMaybes [tag 29, tag 15]),
        bodySymbolic = not (null (tags 16)) || maybe False (`testBit` 1) (tag 30),
        bodyDefined = [name | (True, name) <- names],
        bodyUndefined = [name | (False, name) <- names]
      }
  where
    symbolSize = 24 :: Word64
    weak = 2
    entries =
      takeWhile ((/= 0) . fst) $
        mapMaybe
          (\at -> (,) <$> number 8 at dynamic <*> number 8 (at + 8) dynamic)
          [0, 16 .. B.length dynamic - 16]
    tags kind = [value | (t, value) <- entries, t == kind]
    tag kind = listToMaybe (tags kind)

    -- The bytes at an address of the loaded image.
    region address size = fromMaybe (pure B.empty) $ do
      a <- address
      offset <- listToMaybe (mapMaybe (place a) segments)
      pure (range handle offset size)
    place address s = do
      guard (segmentType s == 1 && address >= segmentAddress s && address - segmentAddress s < segmentSize s)
      pure (address - segmentAddress s + segmentOffset s)

    symbol strings symbols at = do
      name <- number 4 at symbols
      binding <- int 1 (at + 4) symbols
      section <- number 2 (at + 6) symbols
      let found = text mostName name strings
      guard (not (B.null found) && wanted found)
      -- A weak reference may stay unresolved, so it does not count as a call of a runtime.
      guard (section /= 0 || binding `div` 16 /= weak)
      pure (section /= 0, found)

-- | The number of symbols. The dynamic section does not have it, but the hash tables do. GNU's hash
-- table has only defined symbols, which come last. If there are no defined symbols, relocations
-- name the symbols that are called. The arguments give the value of a tag, and the bytes at an
-- address of the loaded image.
countSymbols :: (Word64 -> Maybe Word64) -> (Maybe Word64 -> Word64 -> IO B.ByteString) -> IO Int
countSymbols tag region = case (tag 4, tag 0x6ffffef5) of
  (Just hash, _) -> fromMaybe 0 . int 4 4 <$> region (Just hash) 8
  (_, Just hash) -> gnuCount hash
  _ -> relocated
  where
    gnuCount hash = do
      header <- region (Just hash) 16
      let word i = fromMaybe 0 (number 4 (4 * i) header)
          buckets = hash + 16 + 8 * word 2
          chains = buckets + 4 * word 0
      heads <- region (Just buckets) (4 * word 0)
      let lastHead = foldl' max 0 (mapMaybe (\i -> number 4 i heads) [0, 4 .. B.length heads - 4])
      if lastHead < word 1
        then max (fromIntegral (word 1)) <$> relocated
        else do
          chain <- region (Just (chains + 4 * (lastHead - word 1))) chainLimit
          let steps = takeWhile even (mapMaybe (\i -> number 4 i chain) [0, 4 .. B.length chain - 4])
          pure (fromIntegral lastHead + length steps + 1)
    -- The bound of one bucket: a real bucket has a handful of symbols.
    chainLimit = 65536

    -- The number of the last symbol that a relocation names, plus 1.
    relocated = do
      tables <- sequence [region (tag 7) (fromMaybe 0 (tag 8)), region (tag 23) (fromMaybe 0 (tag 2))]
      let names table = mapMaybe (\at -> int 4 (at + 12) table) [0, 24 .. B.length table - 24]
      pure (foldl' max 0 (map (+ 1) (concatMap names tables)))
