"""`python -m baton_browser`."""

from . import main

main()
