"""Models: whatever the user names as `model` becomes one object with smolagents' `generate` (`build`).

What each call reports beyond its message is a `ModelReport` (`report`); nothing is imported before it is asked for.
"""
