/** A name may differ by so many letters to be suggested: a third of them. */
const LETTERS_PER_ERROR = 3;

/** A longer name has no near one, so that comparing takes microseconds whatever a caller sends. */
const MAX_LETTERS = 64;

/** The name that differs least from what was typed, as "Did you mean X?"; empty where none is near. */
export function didYouMean(typed: string, names: readonly string[], prefix = ''): string {
  const name = nearestName(typed, names);
  return name === undefined ? '' : ` Did you mean ${prefix}${name}?`;
}

/** The name that differs least from what was typed; undefined where none is near. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  if (typed.length > MAX_LETTERS) return undefined;
  const allowed = allowedFor(typed);
  return names
    .filter((name) => Math.abs(name.length - typed.length) <= allowed)
    .map((name) => ({ name, distance: distanceOf(typed, name) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((one, other) => one.distance - other.distance)[0]?.name;
}

const allowedFor = (typed: string): number => Math.ceil(typed.length / LETTERS_PER_ERROR);

/** The letters to insert, delete or replace (Levenshtein). Words around a colon or hyphen count in any order. */
function distanceOf(one: string, other: string): number {
  const sorted = (name: string) => name.split(/[:-]/).sort().join(':');
  return Math.min(levenshtein(one, other), levenshtein(sorted(one), sorted(other)));
}

function levenshtein(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_cell, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [column, expected] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + (letter === expected ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
