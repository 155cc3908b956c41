// The list of test files that may fail once: test/FLAKY.md. CONTRIBUTING.md says how a file gets there and how it leaves.
import { readFileSync } from 'node:fs';

/** An entry may stand for so long; then the test has to be mended or deleted. */
const MAX_AGE_DAYS = 14;
const DAY_MS = 86_400_000;
/** | `file` | reason | 2026-11-25 | */
const ROW = /^\| `([^`]+)` \| ([^|]*\S) \| (\d{4}-\d{2}-\d{2}) \|$/;

/**
 * The files of the list, and what is wrong with it: rows that cannot be read, have no reason or a date that does not exist or lies
 * ahead, and those that are too old. A list that does not exist is empty.
 */
export function readFlaky(path, nowMs) {
  const rows = rowsOf(path);
  const entries = rows.map((row) => ROW.exec(row));
  const faults = rows.flatMap((row, index) => {
    const fault = faultOf(entries[index], nowMs);
    return fault === undefined ? [] : [`${fault}: ${row}`];
  });
  return { files: new Set(entries.flatMap((entry) => entry?.[1] ?? [])), faults };
}

function rowsOf(path) {
  try {
    const [, ...rows] = readFileSync(path, 'utf8').split(/^\| - \|.*\n/m);
    return rows
      .join('')
      .split('\n')
      .filter((line) => line.startsWith('|'));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function faultOf(entry, nowMs) {
  if (!entry) return 'not a row of file, reason and date';
  const ageMs = nowMs - Date.parse(entry[3]);
  if (!(ageMs >= -DAY_MS)) return 'not a day until now';
  return ageMs > MAX_AGE_DAYS * DAY_MS ? `older than ${MAX_AGE_DAYS} days` : undefined;
}
