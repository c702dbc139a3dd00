// Bundles the page into hvr/doors/studio/assets. The same sources and lock file give the same bytes.
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const out = new URL("../hvr/doors/studio/assets/", import.meta.url).pathname;
await mkdir(out, { recursive: true });
await build({
  entryPoints: { studio: "src/main.tsx" },
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  outdir: out,
});
await build({ entryPoints: { studio: "src/style.css" }, bundle: true, minify: true, outdir: out });
await copyFile("index.html", `${out}index.html`);
let total = 0;
for (const name of ["index.html", "studio.js", "studio.css"]) {
  const size = gzipSync(await readFile(out + name)).length;
  total += size;
  console.log(`${name}: ${(size / 1000).toFixed(1)} kB gzipped`);
}
console.log(`all: ${(total / 1000).toFixed(1)} kB gzipped`);
if (total > 600_000) {
  console.error("the page must stay under 600 kB");
  process.exit(1);
}
