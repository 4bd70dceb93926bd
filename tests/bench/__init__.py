"""`memgov bench` itself: that it measures what it says, on small amounts.  Nothing here looks at a time."""
