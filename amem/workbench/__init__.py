"""The prompt workbench: try, record, compare, check and release the versions of a prompt. Pure logic, no printing."""
