"""``python -m benchmarks.peers``; its processes' code is in a module that they can import."""

from benchmarks.peers.running import main

main()
