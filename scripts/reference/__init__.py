"""The generated reference pages: one module for each, with a function `page` that gives its text."""
