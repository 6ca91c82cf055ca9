{-# LANGUAGE CPP #-}

-- | The version of the command, which is the package's.
module Capstan.CLI.Version (version) where

-- | As in @capstan-cli.cabal@.
version :: String
version = CURRENT_PACKAGE_VERSION
