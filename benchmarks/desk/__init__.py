"""What a small model gets done at the demo's order desk, under rules and without them, replayed from recordings."""
