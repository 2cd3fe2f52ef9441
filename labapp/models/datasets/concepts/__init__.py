"""The data that concept purity is studied on (paper 001): inputs, concepts, a task, and rules that
make concepts depend on each other.

    tabular      TabularToy(delta)
    sprites      dSprites(lambda), also with a background that gives the label away, and with four
                 concepts that people can see
    shapes       3dshapes(lambda), rendered here or from the official file
    marked_birds painted birds, their marks as concepts and their species as classes
"""
