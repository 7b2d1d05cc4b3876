"""The contrast of what pictures show, as WCAG 2.2 defines it, computed in the browser from the styles that apply."""

from __future__ import annotations

LEAST = {"text": 4.5, "mark": 3.0}

CONTRAST = """() => {
  const channel = value => { value /= 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const luminance = color => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  };
  const page = getComputedStyle(document.body).backgroundColor;
  const contrast = (color, ground = page) => {
    const [one, other] = [luminance(color), luminance(ground)];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  };
  const found = [];
  const add = (kind, one, value) => found.push([kind, one.outerHTML.slice(0, 120), value]);
  const barUnder = text => {
    const box = text.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    return [...text.closest("svg").querySelectorAll(".bar")].find(bar => {
      const one = bar.getBoundingClientRect();
      return one.left <= x && x <= one.right && one.top <= y && y <= one.bottom;
    });
  };
  for (const one of document.querySelectorAll("svg text")) {
    const bar = /on-/.test(one.getAttribute("class") || "") ? barUnder(one) : null;
    add("text", one, contrast(getComputedStyle(one).fill, bar ? getComputedStyle(bar).fill : page));
  }
  const marks = "svg circle, svg .marker, svg .interval, svg polyline, svg .cross, svg .bar, svg .zero";
  for (const one of document.querySelectorAll(marks)) {
    const style = getComputedStyle(one);
    const isLine = style.fill === "none" || one.matches(".interval, polyline, .cross, .zero");
    const filled = isLine ? 0 : contrast(style.fill);
    add("mark", one, isLine || one.matches(".bar") ? Math.max(filled, contrast(style.stroke)) : filled);
  }
  return found;
}"""
"""Returns a kind, the element's source and the contrast of each text and mark; texts on bars are compared with the bar."""
