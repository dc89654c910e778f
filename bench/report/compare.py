def show(*a): pass
