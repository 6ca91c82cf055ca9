-- | A web service that solves systems of linear equations, with Warp, hmatrix, and OpenBLAS with
-- OpenMP; and the program that loads it.
--
-- > server serve [PORT]                       prints the port that it serves
-- > server load PORT CLIENTS SECONDS [SIZE]   prints requests a second, and how long they took
--
-- The program contains no part of Capstan: the service uses the OpenMP runtime with which the
-- program is linked.
module Main (main) where

import Load (load)
import Service (serve)
import System.Environment (getArgs)
import System.Exit (die)

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    ["serve"] -> serve Nothing
    ["serve", port] -> serve (Just (read port))
    ["load", port, clients, seconds] -> load (read port) (read clients) (read seconds) 200
    ["load", port, clients, seconds, size] -> load (read port) (read clients) (read seconds) (read size)
    _ -> die "usage: server serve [PORT] | server load PORT CLIENTS SECONDS [SIZE]"
