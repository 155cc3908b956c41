import { filesOf, readText } from './sources.js';

/** The last parenthesis of a title that ends with a decision, such as `… (CHAT-26, G-24)'`. */
const END_OF_TITLE = /\([^()]*\bG-\d+\)['"`]/g;

const FOLDERS = ['src/', 'test/', 'bench/', 'docs/'];

/** What `docs/reference/decisions.md` lacks. */
interface DecisionGaps {
  /** How many decisions the page has. */
  readonly total: number;
  /** Headings of decisions that no test's title ends with and that have no line "No test:". */
  readonly unproven: readonly string[];
  /** Numbers that source, tests or other documents name and the page does not have. */
  readonly unknown: readonly string[];
}

export async function decisionGaps(): Promise<DecisionGaps> {
  const entries = (await readText('docs/reference/decisions.md')).split(/^### /m).slice(1);
  const decisions = new Map(entries.map((entry) => [/^G-\d+/.exec(entry)?.[0] ?? '', entry]));
  const proven = new Set<string>();
  const named = new Set<string>();
  for await (const [path, text] of filesOf(FOLDERS, /\.(ts|md|tsv)$/)) {
    for (const [id] of text.matchAll(/\bG-\d{2,}\b/g)) named.add(id);
    if (!path.endsWith('spec.ts')) continue;
    for (const [end] of text.matchAll(END_OF_TITLE)) {
      for (const [id] of end.matchAll(/\bG-\d+/g)) proven.add(id);
    }
  }
  const unproven = [...decisions].filter(
    ([id, entry]) => !proven.has(id) && !/^No test: \S/m.test(entry),
  );
  return {
    total: decisions.size,
    unproven: unproven.map(([, entry]) => entry.split('\n')[0] ?? ''),
    unknown: [...named].filter((id) => !decisions.has(id)).sort(),
  };
}
