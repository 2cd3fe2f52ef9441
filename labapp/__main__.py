"""`python -m labapp` is `labapp`."""

from labapp.cli.main import main

main()
