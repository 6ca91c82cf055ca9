"""python -m capstan"""

import sys

import capstan
from capstan._run import main

sys.exit(main(sys.argv[1:], capstan.libraries(preload=True)))
