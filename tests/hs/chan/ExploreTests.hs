-- | The channels' own source under every order of the steps of small programs, compared with
-- "Spec". A thread that hangs has less output than allowed.
module ExploreTests (tests) where

import Capstan.Chan.Machine (Machine (..))
import Capstan.Chan.Protocol hiding (send)
import qualified Capstan.Chan.Protocol as Chan
import Control.Monad (forM_)
import Data.List (intercalate, tails)
import Data.Maybe (fromMaybe)
import qualified Data.Set as Set
import Explore
import Spec
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit (assertBool, assertFailure, testCase)

-- | The output of the real channels; at the end the items, and the number of threads that still
-- wait to receive.
orders :: Program -> [[[String]]]
orders p = explore $ do
  made <- mapM holding (begun p)
  clocks <- mapM (const (newCell (Rings (pure ())))) (threadCalls p)
  pure ([Thread n (mapM_ (perform made clocks number) calls') | (number, (n, calls')) <- zip [0 ..] (threadCalls p)], mapM leftOver made >>= emit . intercalate ",")
  where
    holding (capacity, there) = newChan capacity >>= \chan -> chan <$ mapM_ (Chan.send chan) there
    leftOver chan = recvPoll chan >>= maybe (show <$> waiting chan) (\x -> (x :) <$> leftOver chan)

-- | The clock of a thread: what it does when it rings.
newtype Clock = Rings (Explore ())

perform :: [Chan Explore Char] -> [Cell Explore Clock] -> Int -> Call -> Explore ()
perform made clocks self call = case call of
  Send c x -> Chan.send (made !! c) x >> emit "sent"
  SendPoll c x -> sendPoll (made !! c) x >>= \done -> emit (if done then "yes" else "no")
  Recv c -> recvMaybe (made !! c) >>= emit . item c
  RecvPoll c -> recvPoll (made !! c) >>= emit . maybe "nothing" (item c . Just)
  Select cs -> select [Case (made !! c) (item c) | c <- cs] >>= emit
  Choose branches -> select (map branch branches) >>= emit
  Limited branches -> selectUntil alarm (map branch branches) >>= emit . fromMaybe "late"
  Ring other -> readCell (clocks !! other) >>= \(Rings action) -> action >> emit "rung"
  Close c -> close (made !! c) >> emit "closed"
  where
    item c = maybe (show c ++ " ended") (\x -> show c ++ [x])
    alarm :: Explore () -> Explore (Explore ())
    alarm action = set (Rings action) >> pure (set (Rings (pure ())))
    set :: Clock -> Explore ()
    set clock = readCell (clocks !! self) >>= \old -> replaceCell (clocks !! self) old clock >>= \done -> if done then pure () else set clock
    branch (In c) = Case (made !! c) (item c)
    branch (Out c x) = SendCase (made !! c) x (\sent -> show c ++ (if sent then " took " ++ [x] else " closed"))

-- | Checks that the outcome of every order is allowed, and returns the number of orders.
check :: Program -> IO Int
check p = do
  let spec = allowed p
      found = orders p
  forM_ found $ \outcome ->
    if Set.member outcome spec
      then pure ()
      else assertFailure (unlines (show p : ("shown: " ++ show outcome) : "allowed:" : map show (Set.toList spec)))
  pure (length found)

exhaust :: String -> Int -> [Program] -> TestTree
exhaust name least programs = testCase name $ do
  counts <- mapM check programs
  assertBool ("only " ++ show (sum counts) ++ " orders") (sum counts >= least)

-- | All teams of @n@ threads, each combination once.
teams :: Int -> [a] -> [[a]]
teams 0 _ = [[]]
teams n xs = [x : rest | x : ys <- tails xs, rest <- teams (n - 1) (x : ys)]

-- | Names the items after their senders.
named :: [(Int, [Call])] -> [(Int, [Call])]
named = zipWith (\letters (n, cs) -> (n, zipWith name letters cs)) ["abcd", "efgh", "ijkl", "mnop"]
  where
    name x (Send c _) = Send c x
    name x (SendPoll c _) = SendPoll c x
    name x (Limited branches) = case name x (Choose branches) of Choose named' -> Limited named'; other -> other
    name x (Choose branches) = Choose [case branch of Out c _ -> Out c x; In c -> In c | branch <- branches]
    name _ c = c

one :: [Call]
one = [Send 0 'x', SendPoll 0 'x', Recv 0, RecvPoll 0, Close 0]

tests :: TestTree
tests =
  testGroup
    "every order"
    [ exhaust "two threads, two calls each" 10000 [Program [(k, "")] (named [(0, a), (0, b)]) | k <- [0, 1, 2, maxBound], [a, b] <- teams 2 (sequence [one, one])],
      exhaust "three threads, one call each" 5000 [Program [(k, "")] (named [(0, [c]) | c <- cs]) | k <- [0, 1, maxBound], cs <- teams 3 one],
      exhaust "an interruption" 5000 [Program [(k, "")] (named [(1, [a]), (0, [b]), (0, [c])]) | k <- [0, 1, maxBound], a <- waits, b <- waits, c <- one],
      exhaust "two interruptions" 5000 [Program [(k, "")] (named [(1, [a]), (1, [b, c])]) | k <- [0, 1, maxBound], a <- waits, b <- one, c <- waits],
      exhaust "items in front" 1000 [Program [(maxBound, there)] (named [(0, calls') | calls' <- threads]) | (there, threads) <- inFront],
      exhaust "select" 10000 [Program [(k, ""), (l, "")] (named ((n, [Select [0, 1]]) : [(0, [c]) | c <- cs])) | k <- [0, 1], l <- [0, 1], n <- [0, 1], cs <- teams 2 both],
      exhaust "select to send, one other" 5000 [Program [(k, there)] (named [(n, [Choose [Out 0 'x']]), (m, calls')]) | (k, there) <- [(0, ""), (1, ""), (1, "0"), (maxBound, "")], n <- [0, 1], m <- [0, 1], calls' <- sequence [one, one]],
      exhaust "select to send, two others" 100000 $
        [Program [(0, "")] (named [(n, [Choose [Out 0 'x']]), (0, [c]), (0, [d])]) | n <- [0, 1], [c, d] <- teams 2 (Choose [Out 0 'x'] : one)]
          ++ [Program [(1, "0")] (named [(0, [Choose [Out 0 'x']]), (0, [c]), (0, [d])]) | (c, d) <- [(Send 0 'x', Recv 0), (SendPoll 0 'x', Recv 0), (Recv 0, Close 0)]],
      exhaust "select to send and to receive" 150000 [Program [(k, there), (l, "")] (named [(0, [Choose branches]), (0, [c]), (0, [d])]) | (k, there, others) <- [(0, "", several), (1, "0", few)], l <- [0, 1], branches <- [[Out 0 'x', In 1], [In 1, Out 0 'x']], (c, d) <- others],
      exhaust "select to send, select to receive" 200000 $
        [Program [(0, ""), (0, "")] (named [(n, [Choose [Out 0 'x', Out 1 'x']]), (m, [Select [1, 0]])]) | n <- [0, 1], m <- [0, 1]]
          ++ [Program [(0, ""), (0, "")] (named [(0, [Choose [Out 0 'x', Out 1 'x']]), (0, [Select [1, 0]]), (0, [Recv 1])])],
      exhaust "a limit of time, one other" 5000 [Program [(k, there)] (named [(n, [Limited [b]]), (0, calls'), (0, [Ring 0])]) | (k, there) <- [(0, ""), (1, ""), (1, "0"), (maxBound, "")], n <- [0, 1], b <- [Out 0 'x', In 0], calls' <- map pure one ++ [[Send 0 'x', Recv 0]]],
      exhaust "a limit of time, two channels" 500 [Program [(k, ""), (1, "")] (named [(0, [Limited [b, In 1]]), (0, [c]), (0, [Ring 0])]) | k <- [0, 1], b <- [Out 0 'x', In 0], c <- both],
      exhaust "a limit of time, then a receiver" 500 [Program [(k, "")] (named [(0, [Limited [In 0], Recv 0]), (0, [Send 0 'x']), (0, [Ring 0])]) | k <- [0, 1, maxBound]],
      exhaust "two that select" 1000 [Program [(0, ""), (1, "")] (named [(n, [Select [0, 1]]), (0, [Select [1, 0]]), (0, [c])]) | n <- [0, 1], c <- sends]
    ]
  where
    waits = [Send 0 'x', Recv 0]
    several = [(c, d) | [c, d] <- teams 2 [Send 1 'x', Recv 0, RecvPoll 0, Close 0, Close 1]]
    few = [(c, d) | [c, d] <- teams 2 [Send 1 'x', Close 0, Close 1]] ++ [(RecvPoll 0, d) | d <- [Send 1 'x', Close 0, Close 1]]
    both = one ++ [Send 1 'x', Recv 1, Close 1]
    inFront =
      [ ("123", [[Recv 0, Recv 0], [Recv 0, RecvPoll 0]]),
        ("123", [[Recv 0], [Send 0 'x', Recv 0]]),
        ("123", [[Recv 0], [Recv 0], [Close 0]]),
        ("123", [[Select [0]], [RecvPoll 0, Close 0]]),
        ("", [[Send 0 'x', Send 0 'x', Send 0 'x', RecvPoll 0], [Recv 0]])
      ]
    sends = [Send 0 'x', Send 1 'x', SendPoll 0 'x', Close 1]
