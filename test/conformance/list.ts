import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/**
 * Prints the rows of `requirements.tsv` that no test names, by area, then counts (`npm run conformance`, or
 * `npm run conformance -- SPEECH VOICE` for some areas). A test names a row by its id, such as SPEECH-14.
 */
const ROOT = new URL('../../', import.meta.url);
const COMMENT = /\/\*[^]*?\*\/|^\s*\/\/.*$/gm;
const wanted = process.argv.slice(2);

const rows = (await readFile(new URL('requirements.tsv', import.meta.url), 'utf8'))
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [id = '', area = '', requirement = ''] = line.split('\t');
    return { id, area, requirement };
  });
const named = new Set<string>();
for (const folder of ['src/', 'test/']) {
  const root = new URL(folder, ROOT);
  for (const file of await readdir(fileURLToPath(root), { recursive: true })) {
    if (!file.endsWith('spec.ts')) continue;
    const source = await readFile(new URL(file, root), 'utf8');
    for (const [id] of source.replace(COMMENT, '').matchAll(/\b[A-Z]+-\d{2,}\b/g)) named.add(id);
  }
}

const print = (line: string) => process.stdout.write(`${line}\n`);
const counts: string[] = [];
for (const area of new Set(rows.map((row) => row.area))) {
  if (wanted.length > 0 && !wanted.includes(area)) continue;
  const inArea = rows.filter((row) => row.area === area);
  const missing = inArea.filter((row) => !named.has(row.id));
  for (const { id, requirement } of missing) print(`${id}  ${requirement}`);
  counts.push(`${area.padEnd(8)} ${inArea.length - missing.length} of ${inArea.length} named`);
}
print(`\n${counts.join('\n')}`);

const ids = new Set(rows.map((row) => row.id));
const areas = new Set(rows.map((row) => row.area));
const unknown = [...named].filter((id) => areas.has(id.split('-')[0] ?? '') && !ids.has(id));
if (unknown.length > 0) {
  print(`\nTests name rows that do not exist: ${unknown.join(', ')}`);
  process.exitCode = 1;
}
