"""The estimators: SAS clustering and the methods it is compared with, one file per method."""
