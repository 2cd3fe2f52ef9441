"""`python -m labapp` is `labapp`."""

from labapp.begin import main

main()
