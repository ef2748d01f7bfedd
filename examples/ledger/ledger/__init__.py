"""A small back office: five agents around one ledger."""
