"""``python -m benchmarks.peers``; what its processes run stands in a module that they can import."""

from benchmarks.peers.running import main

main()
