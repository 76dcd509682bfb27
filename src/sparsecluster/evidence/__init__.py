"""Evidence for a clustering: whether a table has clusters at all, and which features differ between them."""
