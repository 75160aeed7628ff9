"""What is measured: amem, the baselines it has to beat, and other people's memories, behind one small protocol."""
