// A canvas's context, as far as the timeline uses one, that draws SVG.
import { svg } from "./format.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
const STYLE = ["fillStyle", "strokeStyle", "globalAlpha", "lineWidth", "textAlign", "dashes"];

export class SvgContext {
  /** screen: the context of a canvas, which measures texts. The drawing, `root`, is a document of its own, which loads
   *  nothing: an image would be a request of the page. */
  constructor(screen, title, width, height) {
    Object.assign(this, { screen, fillStyle: "#000", strokeStyle: "#000", globalAlpha: 1, lineWidth: 1, textAlign: "start", dashes: [] });
    this.root = document.implementation.createDocument(NAMESPACE, "svg", null).documentElement;
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) this.root.setAttribute(name, value);
    this.group = svg("g", { "font-family": "system-ui, sans-serif", "font-size": 11 });
    this.root.append(svg("title", {}, title), this.group);
    this.saved = [];
    this.clips = 0;
  }

  save() {
    this.saved.push({ group: this.group, ...Object.fromEntries(STYLE.map((name) => [name, this[name]])) });
  }

  restore() {
    Object.assign(this, this.saved.pop());
  }

  add(tag, properties, ...children) {
    this.group.append(svg(tag, { opacity: this.globalAlpha === 1 ? null : this.globalAlpha, ...properties }, ...children));
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x, y) {
    this.path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x, y) {
    this.path += `L${round(x)} ${round(y)}`;
  }

  rect(x, y, width, height) {
    this.path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
  }

  /** A circle. */
  arc(x, y, radius) {
    this.path += `M${round(x - radius)} ${round(y)}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0z`;
  }

  clip() {
    const id = `clip${++this.clips}`;
    const group = svg("g", { "clip-path": `url(#${id})` });
    this.group.append(svg("clipPath", { id }, svg("path", { d: this.path })), group);
    this.group = group;
  }

  stroke() {
    if (this.path) this.add("path", { d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-dasharray": this.dashes.join(" ") || null });
  }

  fill() {
    this.add("path", { d: this.path, fill: this.fillStyle });
  }

  setLineDash(dashes) {
    this.dashes = dashes;
  }

  fillRect(x, y, width, height) {
    this.add("rect", { x: round(x), y: round(y), width: round(Math.max(0, width)), height: round(Math.max(0, height)), fill: this.fillStyle });
  }

  strokeRect(x, y, width, height) {
    this.add("rect", { x: round(x), y: round(y), width: round(width), height: round(height), fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth });
  }

  fillText(text, x, y) {
    this.add("text", { x: round(x), y: round(y), fill: this.fillStyle, "text-anchor": this.textAlign === "center" ? "middle" : null }, text);
  }

  measureText(text) {
    return this.screen.measureText(text);
  }

  /** Of a canvas, all of it. */
  drawImage(canvas, left, top, columns, rows, x, y, width, height) {
    this.add("image", { x, y, width, height, preserveAspectRatio: "none", "image-rendering": "pixelated" });
    this.group.lastChild.setAttribute("href", canvas.toDataURL("image/png")); // now that it is in the drawing
  }
}

const round = (number) => Math.round(number * 100) / 100;
