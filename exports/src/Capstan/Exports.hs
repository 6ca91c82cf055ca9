-- |
-- Module      : Capstan.Exports
-- Description : Nothing to import: the package's options are what it is for
-- Stability   : internal
--
-- A Haskell program that depends on @capstan@ exports the names that OpenMP libraries look for, so that they find its runtime before their own.
-- The linker gets an option for each name, from this package's description.
module Capstan.Exports () where
