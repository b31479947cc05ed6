"""The demo: an order desk with a real database, a real small model, and rules that keep it from doing harm."""
