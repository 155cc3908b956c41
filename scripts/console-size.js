// `npm run console:size`: fails where the first screen of the console has more script than a slow line takes at once.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const MAX_BYTES = 90_000;
const FOLDER = 'dist/console/page';
/** What is open first, by who signed in; with all that it shows. */
const FIRST_SCREENS = {
  'an operator': ['src/operator/today.tsx', 'src/shared/chart-canvas.ts'],
  'a customer': ['src/customer/home.tsx', 'src/shared/chart-canvas.ts'],
};

const manifest = JSON.parse(readFileSync(`${FOLDER}/.vite/manifest.json`, 'utf8'));

/** The files of a part and of all that it imports at once. */
function filesOf(name, found = new Set()) {
  const part = manifest[name];
  if (part === undefined || found.has(part.file)) return found;
  found.add(part.file);
  for (const imported of part.imports ?? []) filesOf(imported, found);
  return found;
}

for (const [who, parts] of Object.entries(FIRST_SCREENS)) {
  const files = ['index.html', ...parts].flatMap((name) => [...filesOf(name)]);
  const bytes = [...new Set(files)].reduce(
    (sum, file) => sum + gzipSync(readFileSync(`${FOLDER}/${file}`), { level: 9 }).length,
    0,
  );
  const isTooLarge = bytes > MAX_BYTES;
  if (isTooLarge) process.exitCode = 1;
  console.log(
    `The first screen of ${who}: ${bytes} bytes of script in gzip, at most ${MAX_BYTES}${isTooLarge ? ': too much' : ''}`,
  );
}
