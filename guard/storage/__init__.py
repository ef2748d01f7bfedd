"""What the store is made of."""
