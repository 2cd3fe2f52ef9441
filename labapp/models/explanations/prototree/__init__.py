"""ProtoTree: a tree of yes-or-no questions, each whether a known patch is in the picture."""
