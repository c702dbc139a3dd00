// Bundles the page into hvr/doors/studio/assets. The same sources and lock file give the same bytes.
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const out = new URL("../hvr/doors/studio/assets/", import.meta.url).pathname;
await mkdir(out, { recursive: true });
const options = {
  bundle: true,
  metafile: true,
  minify: true,
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  outdir: out,
};
// The page, the script of shared files, and the room's library, which both load when they need it.
const built = await Promise.all([
  build({ ...options, entryPoints: { studio: "src/main.tsx" }, format: "esm" }),
  build({ ...options, entryPoints: { share: "src/share.tsx" }, format: "iife" }),
  build({ ...options, entryPoints: { room: "src/views/room3d.ts" }, format: "iife", globalName: "hvrRoom" }),
]);
await build({ entryPoints: { studio: "src/style.css" }, bundle: true, minify: true, outdir: out });
for (const name of ["share.js", "room.js"]) {
  if (/<\/script|<!--/i.test(await readFile(out + name, "utf8"))) {
    throw new Error(`${name} cannot be embedded in a page: it contains "</script" or "<!--"`);
  }
}
const packages = new Set(
  built
    .flatMap(({ metafile }) => Object.keys(metafile.inputs))
    .flatMap((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []),
);
let licences = "The studio's page contains these packages.\n";
for (const name of [...packages].sort()) {
  const about = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
  const file = (await readdir(`node_modules/${name}`)).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) {
    throw new Error(`${name} has no licence file`);
  }
  const text = await readFile(`node_modules/${name}/${file}`, "utf8");
  licences += `\n--- ${name} ${about.version} (${about.license})\n\n${text.trim()}\n`;
}
await writeFile(`${out}LICENSES.txt`, licences);
await copyFile("index.html", `${out}index.html`);
let total = 0;
for (const name of ["index.html", "studio.js", "studio.css", "room.js", "share.js"]) {
  const size = gzipSync(await readFile(out + name)).length;
  total += size;
  console.log(`${name}: ${(size / 1000).toFixed(1)} kB gzipped`);
}
console.log(`all: ${(total / 1000).toFixed(1)} kB gzipped`);
if (total > 600_000) {
  console.error("the page must stay under 600 kB");
  process.exit(1);
}
