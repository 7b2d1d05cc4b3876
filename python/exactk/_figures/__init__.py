"""What each picture shows, as numbers and names: drawn by `exactk.displays`, and as SVG on HTML pages."""
