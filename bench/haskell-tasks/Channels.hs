-- | Channels, beside those of base and stm: nanoseconds for an item.
module Channels (channels) where

import Bench
import Capstan.Chan
import qualified Control.Concurrent as Base
import Control.Concurrent.STM (atomically)
import Control.Concurrent.STM.TBQueue
import Control.Concurrent.STM.TQueue
import Control.Monad (forM_, replicateM_)
import Measure

-- | A channel: its name, and actions that make it and return its send and receive.
data Pipe = Pipe String (IO (Int -> IO (), IO Int))

pipes :: [Pipe]
pipes =
  [ Pipe "" (newUnbounded >>= \c -> pure (send c, recv c)),
    Pipe "-bounded" (newBounded 100 >>= \c -> pure (send c, recv c)),
    Pipe "-rendezvous" (newRendezvous >>= \c -> pure (send c, recv c)),
    Pipe "-mvar" (Base.newEmptyMVar >>= \v -> pure (Base.putMVar v, Base.takeMVar v)),
    Pipe "-base" (Base.newChan >>= \c -> pure (Base.writeChan c, Base.readChan c)),
    Pipe "-tqueue" (newTQueueIO >>= \q -> pure (atomically . writeTQueue q, atomically (readTQueue q))),
    Pipe "-tbqueue" (newTBQueueIO 100 >>= \q -> pure (atomically . writeTBQueue q, atomically (readTBQueue q)))
  ]

channels :: Arguments -> IO ()
channels a = do
  each "chan-alone" [p | p@(Pipe name _) <- pipes, name /= "-rendezvous"] (\(put, take') -> replicateM_ items (put 1 >> take'))
  each "chan-stream" pipes (between 1 1)
  each "chan-many" pipes (between 8 8)
  where
    items = 100000 :: Int
    each title some action =
      report a "ns" (1 / fromIntegral items) [Measured (title ++ name) (action <$> make) | Pipe name make <- some]
    between senders receivers (put, take') = do
      done <- Base.newEmptyMVar
      forM_ [1 .. senders] . const . Base.forkIO $ forM_ [1 .. items `div` senders] put
      forM_ [1 .. receivers] . const . Base.forkIO $ replicateM_ (items `div` receivers) take' >> Base.putMVar done ()
      replicateM_ receivers (Base.takeMVar done)
