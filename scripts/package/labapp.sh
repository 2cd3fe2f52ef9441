#!/bin/sh
# Starts labapp from the folder that this file is in, wherever that is, with the Python beside it.
here=$(dirname "$(readlink -f "$0")")
# Packages that this user installed for another Python would take the place of those here.
unset PYTHONHOME
export PYTHONNOUSERSITE=1
exec "$here/python/bin/python3" -P -m labapp "$@"
