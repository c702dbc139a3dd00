/** Pictures as files: SVG with its looks inside, and PNG drawn from it. */

import { useRef, useState } from "preact/hooks";

const LOOKS = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "paint-order",
  "visibility",
  "transform",
];
const SCALE = 2;
const MOST_PIXELS = 16_000;

/** Return a picture as an SVG document that needs no style sheet. */
export function svgText(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const shapes = [picture, ...picture.querySelectorAll<SVGElement>("*")];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  for (const [at, shape] of shapes.entries()) {
    const target = copies[at] as SVGElement;
    const looks = getComputedStyle(shape);
    const kept = LOOKS.filter((name) => looks.getPropertyValue(name) !== "none" || name === "fill");
    target.setAttribute("style", kept.map((name) => `${name}:${looks.getPropertyValue(name)}`).join(";"));
    for (const name of ["class", "role", "tabindex", "aria-label", "aria-pressed", "aria-current"]) {
      target.removeAttribute(name);
    }
  }
  const { width, height } = picture.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(Math.ceil(width)));
  copy.setAttribute("height", String(Math.ceil(height)));
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.insertBefore(ground, copy.firstChild);
  return new XMLSerializer().serializeToString(copy);
}

async function pngOf(text: string): Promise<Blob> {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    await new Promise((done, failed) => {
      image.onload = done;
      image.onerror = () => failed(new Error("this browser cannot draw the picture as PNG"));
      image.src = url;
    });
    const scale = Math.min(SCALE, MOST_PIXELS / Math.max(image.width, image.height, 1));
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(image.width * scale);
    canvas.height = Math.round(image.height * scale);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const made = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    if (!made) {
      throw new Error("the picture is too large for PNG; save it as SVG");
    }
    return made;
  } finally {
    URL.revokeObjectURL(url);
  }
}

export function download(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Buttons that save the picture of the figure that they stand in. */
export function Export({ name }: { name: string }) {
  const place = useRef<HTMLSpanElement>(null);
  const [error, setError] = useState("");
  const save = async (kind: "svg" | "png") => {
    const picture = place.current?.closest("figure")?.querySelector("svg");
    if (!picture) {
      return;
    }
    setError("");
    try {
      const text = svgText(picture);
      download(
        kind === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await pngOf(text),
        `${name}.${kind}`,
      );
    } catch (problem) {
      setError((problem as Error).message);
    }
  };
  return (
    <span class="export" ref={place}>
      {error && <span role="alert">{error}</span>}
      <button type="button" class="small" onClick={() => save("svg")}>
        Save SVG
      </button>
      <button type="button" class="small" onClick={() => save("png")}>
        Save PNG
      </button>
    </span>
  );
}
