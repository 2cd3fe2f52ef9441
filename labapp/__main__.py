"""`python -m labapp` is `labapp`."""

from labapp.cli import main

main()
