"""The shapes of answers, for the API's description.  `representation` and the views make them; tests compare."""
