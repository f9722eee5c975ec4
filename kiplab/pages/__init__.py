"""Pages and files made of figures: HTML, pictures, a player, saved notebooks."""
