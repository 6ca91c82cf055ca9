-- | Files by other people that the command reads: ELF files, reports and scripts. The command ends
-- after an amount of work that the file's size bounds, and no control character reaches the
-- terminal.
module HostileTests (tests) where

import Capstan.Bench.Visible (visible)
import Capstan.CLI.Elf (readElf)
import Control.Exception (AllocationLimitExceeded (..), bracket_, evaluate, try)
import Control.Monad (forM_)
import Data.Aeson (Value (..))
import Data.Bits (shiftR)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.Char (GeneralCategory (..), generalCategory)
import Data.Word (Word64, Word8)
import Fixture
import System.Directory
import System.Exit
import System.FilePath ((</>))
import System.Mem (disableAllocationLimit, enableAllocationLimit, setAllocationCounter)
import System.Posix.Files (setFileMode)
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

-- | All tests of hostile files.
tests :: Fixture -> TestTree
tests fixture = testGroup "hostile" [elfTests fixture, loaderTests fixture, textTests fixture, reportTests fixture]

-- ELF files -----------------------------------------------------------------

elfTests :: Fixture -> TestTree
elfTests fixture =
  testGroup
    "ELF files"
    [ testProperty "a damaged file is read within bounds" . withMaxSuccess 400 . forAllBlind (elements ["region", "static", "lib/libgomp.so.1.0.0"]) $ \name ->
        ioProperty $ do
          original <- B.readFile (program fixture name)
          let complained text = counterexample text False
              succeeded = property True
          pure . forAll (damages original) $ \list -> ioProperty (maybe succeeded complained <$> readsBriefly (fixtureDirectory fixture </> "damaged.so") (foldl damaged original list)),
      testCase "a symbol table that claims two thousand million entries" $
        forM_ [crafted [(1, 1)] (C.pack "\0libc.so.6\0") 0x7fffffff, crafted [(1, 1)] (C.pack "\0libc.so.6\0") 0xffffffff] $
          assertBriefly (fixtureDirectory fixture </> "claims.so"),
      testCase "a name without an end, wanted by each entry" $
        assertBriefly (fixtureDirectory fixture </> "endless.so") (crafted [(tag, i) | tag <- [1, 14, 15, 29], i <- [1 .. 700]] (B.cons 0 (B.replicate 8000 65)) 1)
    ]

-- | The bytes that a reader may allocate for a file of this size: ten times the need of a good
-- file.
mostAllocated :: Int -> Int
mostAllocated size = 64 * 1024 * 1024 + 1000 * size

-- | Reads the file and all its symbols, and evaluates the whole result. Returns the fault, if there
-- is any.
readsBriefly :: FilePath -> B.ByteString -> IO (Maybe String)
readsBriefly file contents = do
  B.writeFile file contents
  setAllocationCounter (fromIntegral (mostAllocated (B.length contents)))
  outcome <- try (bracket_ enableAllocationLimit disableAllocationLimit (readElf (const True) file >>= evaluate . length . show))
  pure $ case outcome of
    Left AllocationLimitExceeded -> Just "more work than the file's size allows"
    Right said
      | said > 5000000 -> Just ("it says " <> show said <> " characters")
      | otherwise -> Nothing

assertBriefly :: FilePath -> B.ByteString -> Assertion
assertBriefly file contents = readsBriefly file contents >>= mapM_ assertFailure

-- | A change of a file.
data Damage
  = -- | The file ends there.
    Cut Int
  | -- | The place, the width in bytes, and the number that is written there.
    Put Int Int Word64
  deriving (Show)

damaged :: B.ByteString -> Damage -> B.ByteString
damaged file change = case change of
  Cut size -> B.take size file
  Put at width value -> B.take (B.length file) (B.concat [B.take at file, bytes width value, B.drop (at + width) file])

bytes :: Int -> Word64 -> B.ByteString
bytes width value = B.pack [fromIntegral (value `shiftR` (8 * i)) | i <- [0 .. width - 1]]

-- | A few changes, most of them in numbers that a reader uses. Such numbers are in the header, in
-- the program headers behind it, in the dynamic section, and at the beginning of the tables to
-- which that section points.
damages :: B.ByteString -> Gen [Damage]
damages file = choose (1, 5) >>= \n -> vectorOf n (frequency [(1, Cut <$> choose (0, size)), (9, put)])
  where
    size = B.length file
    put = do
      width <- elements [1, 2, 4, 8]
      at <- frequency [(1, choose (0, 63)), (2, (+) 64 . (* 8) <$> choose (0, 90)), (4, placed), (1, choose (0, size - 1))]
      Put (min at (max 0 (size - 8))) width <$> number
    placed = if null tables then choose (0, size - 1) else (+) <$> elements tables <*> ((* 4) <$> choose (0, 15))
    number =
      frequency
        [ (4, elements [0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, maxBound]),
          (2, fromIntegral <$> choose (0, 2 * size)),
          (1, arbitraryBoundedIntegral)
        ]
    -- The places of the dynamic section's entries, and the places that their values name. In such a
    -- file the first segments lie at their addresses.
    tables = [at | at <- dynamic, at < size] <> [value | at <- dynamic, let value = word (at + 8), value > 0, value < size]
    dynamic = take 40 [start + 16 * i | segment <- [0 .. 12], let at = 64 + 56 * segment, take4 at == [2, 0, 0, 0], let start = word (at + 8), i <- [0 .. 39]]
    take4 at = B.unpack (B.take 4 (B.drop at file))
    word at = fromIntegral (foldr (\byte rest -> 256 * rest + fromIntegral (byte :: Word8)) (0 :: Word64) (B.unpack (B.take 4 (B.drop at file)))) :: Int

-- | A library with these dynamic entries and strings, whose hash table claims this number of
-- symbols.
crafted :: [(Word64, Word64)] -> B.ByteString -> Word64 -> B.ByteString
crafted entries strings count = B.concat [header, loaded, dynamicHeader, dynamic, strings, hash, B.replicate 24 0]
  where
    base = 0x400000
    atDynamic = 64 + 2 * 56
    dynamicSize = 16 * (fromIntegral (length entries) + 5)
    atStrings = atDynamic + dynamicSize
    atHash = atStrings + fromIntegral (B.length strings)
    atSymbols = atHash + 16
    whole = atSymbols + 24
    header =
      B.concat
        [C.pack "\DELELF\2\1\1", B.replicate 9 0, bytes 2 3, bytes 2 62, bytes 4 1, bytes 8 0, bytes 8 64, bytes 8 0, bytes 4 0, bytes 2 64, bytes 2 56, bytes 2 2, B.replicate 6 0]
    loaded = B.concat [bytes 4 1, bytes 4 5, bytes 8 0, bytes 8 base, bytes 8 base, bytes 8 whole, bytes 8 whole, bytes 8 4096]
    dynamicHeader = B.concat [bytes 4 2, bytes 4 6, bytes 8 atDynamic, bytes 8 (base + atDynamic), bytes 8 (base + atDynamic), bytes 8 dynamicSize, bytes 8 dynamicSize, bytes 8 8]
    dynamic = B.concat [bytes 8 tag <> bytes 8 value | (tag, value) <- [(5, base + atStrings), (10, fromIntegral (B.length strings)), (6, base + atSymbols), (4, base + atHash)] <> entries <> [(0, 0)]]
    hash = B.concat [bytes 4 1, bytes 4 count, bytes 4 0, bytes 4 0]

-- The loader's answer --------------------------------------------------------

loaderTests :: Fixture -> TestTree
loaderTests fixture =
  testCase "a file of 20 KiB that names seven hundred libraries of 8 KiB each" $ do
    let file = fixtureDirectory fixture </> "needy.so"
    B.writeFile file (crafted [(1, i) | i <- [1 .. 700]] (B.cons 0 (B.replicate 8000 65)) 1)
    result <- capstan fixture ["doctor", file]
    resultExit result @?= ExitFailure 1
    assertContains (resultOut result) ["is not found"]
    let size = B.length (resultOut result)
    assertBool ("so many bytes: " <> show size) (size < 3 * 1024 * 1024)

-- Control characters ---------------------------------------------------------

textTests :: Fixture -> TestTree
textTests fixture =
  testGroup
    "names"
    [ testProperty "what is shown has no control character, and what is none is shown" $ \(UnicodeString text) ->
        let shown = visible text
         in counterexample shown (all ((`notElem` [Control, Format, LineSeparator, ParagraphSeparator]) . generalCategory) shown && filter plain text == filter plain (if all plain text then shown else text)),
      testCase "bytes that are control characters without UTF-8" $
        visible "a\xdc9b\&b\xdcff\ESC[2J\n\x202e\&c" @?= "a\\x9bb\xdcff\\x1b[2J\\n\\u{202e}c",
      testCase "the name of a program" $ do
        let named = fixtureDirectory fixture </> "a\ESC[31mb\x9b\&2Jc"
        copyFile (program fixture "region") named
        result <- capstan fixture ["doctor", named]
        resultExit result @?= ExitSuccess
        assertContains (resultOut result) ["a\\x1b[31mb\\x9b2Jc"]
        assertLacks (resultOut result) "\ESC",
      testCase "the interpreter of a script" $ do
        let script = fixtureDirectory fixture </> "script"
        writeFile script "#!/no/such\ESC]0;title\BEL\n"
        setFileMode script 0o755
        result <- capstan fixture ["doctor", script]
        assertContains (resultErr result) ["/no/such\\x1b]0;title\\x07"]
        assertLacks (resultErr result) "\ESC"
    ]
  where
    plain = (`notElem` [Control, Format, LineSeparator, ParagraphSeparator, Surrogate]) . generalCategory

-- Reports --------------------------------------------------------------------

reportTests :: Fixture -> TestTree
reportTests fixture =
  testGroup
    "reports"
    [ testCase "control characters in each text" $ do
        result <- reported ["--report"] (said "$$" "\\u001b[31m")
        assertContains (resultErr result) ["\\x1b[31m"]
        assertLacks (resultErr result) "\ESC",
      testCase "in JSON they are as they were" $ do
        result <- reported ["--json"] (said "$$" "\\u001b[31m")
        value <- json (resultErr result)
        path ["process", "note"] value >>= (@?= String (read "\"\\ESC[31m\"")),
      testCase "a line that is too long for a report" $ do
        result <- reported ["--report"] (said "$$" (replicate 5000 'x'))
        assertContains (resultErr result) ["did not use Capstan"],
      testCase "a flood before the program's own report" $ do
        result <- reported ["--report"] "head -c 60000000 /dev/zero | tr '\\0' '\\n' >&$fd; exec \"$0\""
        assertContains (resultErr result) ["ran on Capstan"],
      testCase "brackets without end" $ do
        result <- reported ["--report"] "for i in 1 2 3; do head -c 4000 /dev/zero | tr '\\0' '[' >&$fd; echo >&$fd; done; exec \"$0\""
        assertContains (resultErr result) ["ran on Capstan"]
    ]
  where
    -- A shell that writes to the report's descriptor.
    reported options text =
      capstan fixture (["run"] <> options <> ["--", "bash", "-c", "fd=${CAPSTAN_REPORT#fd:}; fd=${fd%%:*}; " <> text, program fixture "region"])
    said pid text =
      "printf '{\"capstan\":\"%s\",\"pid\":%d,\"program\":\"%s\",\"substrate\":\"%s\",\"ghc\":\"%s\",\"regions\":1,\"library\":\"%s\",\"note\":\"%s\"}\\n' "
        <> unwords [quoted text, pid, quoted text, quoted text, quoted text, quoted text, quoted text]
        <> " >&$fd; kill -KILL $$" -- before it writes its own report
    quoted text = "'" <> text <> "'"
