"""Reports as HTML, SVG and text. Pure: report in, string out; no torch."""
