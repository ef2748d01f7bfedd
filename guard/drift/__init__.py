"""Whether a case runs by the model and the program by which it last held."""
