"""What every picture is drawn with: a canvas, a theme, widths of text, still copies."""
