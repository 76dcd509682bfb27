"""The methods that SAS clustering is compared with, behind the same API; one paper, one file."""
