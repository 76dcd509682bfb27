"""Tables in blocks of rows: everything that is computed on all samples, as passes over the blocks.

A pass is one map over the blocks and one reduction of the results, which are sums of whole numbers. They are the same
however the table is cut into blocks, whether it is in memory or not, and in whatever order the blocks are read.
"""
