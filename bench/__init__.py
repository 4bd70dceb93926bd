"""`memgov bench`: what memgov costs beside doing the same with nothing, and beside other stores.

One coordinator (`command`, `stage`, `measure`) starts servers of its own in a temporary folder and gives the same
work to every system, in blocks that take turns; one client process per caller (`client`) does it and keeps the times.
Nothing in the product imports this package, and nothing here is part of what it serves.
"""
