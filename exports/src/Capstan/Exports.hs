-- |
-- Module      : Capstan.Exports
-- Description : An empty module: the package only brings linker options
-- Stability   : internal
--
-- A Haskell program that depends on @capstan@ exports the names that OpenMP libraries look for. So
-- these libraries find its runtime before their own. The linker gets an option for each name, from
-- this package's description.
module Capstan.Exports () where
