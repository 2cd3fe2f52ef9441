"""Where long work is done: processes of this machine, or a Dask cluster.

Work comes as functions and their arguments. It imports errors, and knows nothing of what is done.
"""
