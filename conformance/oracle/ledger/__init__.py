"""The ledger: what each engagement must be, after all writes of the run."""
