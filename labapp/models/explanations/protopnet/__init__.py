"""ProtoPNet: a class is recognised by patches that look like patches of known pictures of it."""
