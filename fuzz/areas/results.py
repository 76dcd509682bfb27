"""Later."""
CORPUS = ()


def run(case, number):
    pass
