"""Every call of the API as a function that makes a `Call`: what both clients offer, said once."""
