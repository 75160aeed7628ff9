"""The store: one ledger, and disposable indexes over it."""
