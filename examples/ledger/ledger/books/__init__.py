"""The ledger itself: entries, the rules they are posted by, and the chain that holds them."""
