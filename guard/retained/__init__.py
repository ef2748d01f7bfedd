"""What is done to records by hand: added, retired, reopened, listed, audited. Nothing is run."""
