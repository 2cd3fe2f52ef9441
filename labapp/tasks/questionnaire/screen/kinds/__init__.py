"""What participants see and answer of each kind of items, a module each."""
