"""The workbench of gc-core: replay, comparison, report, inspector, doctor and the command line."""
