"""What each picture shows, as arrays and names: drawn by `exactk.displays`, and as SVG on HTML pages."""
