import { decisionGaps } from './decisions.js';
import { filesOf, requirements } from './sources.js';

/**
 * Prints the rows of `requirements.tsv` that no test names, by area, then counts (`npm run conformance`, or
 * `npm run conformance -- SPEECH VOICE` for some areas). A test names a row by its id, such as SPEECH-14.
 * `npm run conformance -- --decisions` prints the decisions of `docs/reference/decisions.md` that no test proves and
 * that do not say why, and the numbers of decisions that are named and do not exist.
 */
const COMMENT = /\/\*[^]*?\*\/|^\s*\/\/.*$/gm;
const wanted = process.argv.slice(2);

const print = (line: string) => process.stdout.write(`${line}\n`);

async function listRows(): Promise<void> {
  const rows = await requirements();
  const named = new Set<string>();
  for await (const [, source] of filesOf(['src/', 'test/'], /spec\.ts$/)) {
    for (const [id] of source.replace(COMMENT, '').matchAll(/\b[A-Z]+-\d{2,}\b/g)) named.add(id);
  }
  const counts: string[] = [];
  for (const area of new Set(rows.map((row) => row.area))) {
    if (wanted.length > 0 && !wanted.includes(area)) continue;
    const inArea = rows.filter((row) => row.area === area);
    const missing = inArea.filter((row) => !named.has(row.id));
    for (const { id, text } of missing) print(`${id}  ${text}`);
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
}

async function listDecisions(): Promise<void> {
  const { total, unproven, unknown } = await decisionGaps();
  for (const heading of unproven) print(heading);
  if (unknown.length > 0) print(`\nNamed, but not a decision: ${unknown.join(', ')}`);
  print(`\n${total - unproven.length} of ${total} decisions are proven or say why not.`);
  if (unproven.length > 0 || unknown.length > 0) process.exitCode = 1;
}

await (wanted.includes('--decisions') ? listDecisions() : listRows());
