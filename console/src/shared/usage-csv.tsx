import { useState } from 'preact/hooks';
import { CONSOLE_PATH, problemOf } from './api.js';
import { Problem } from './parts.js';
import { endSessionOn } from './queries.js';
import type { UsageQuery } from './usage-rows.js';

const ROWS_OF_PAGE = '10000';
const MOST_PAGES = 50;
const KEPT_MS = 60_000;
const LINE_END = '\r\n';
const NAME_IN_HEADER = /filename="([^"]+)"/;

interface CsvFile {
  readonly name: string;
  readonly text: string;
}

/** All pages of a list as one CSV: the line of names stands once. */
async function csvOf(path: string, query: UsageQuery): Promise<CsvFile> {
  const parts: string[] = [];
  let name = 'usage.csv';
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const params = new URLSearchParams({ ...query, format: 'csv', limit: ROWS_OF_PAGE });
    if (cursor !== null) params.set('cursor', cursor);
    const response = await fetch(`${CONSOLE_PATH}/api${path}?${params}`);
    const text = await response.text();
    if (!response.ok) throw problemOf(response, jsonIn(text));
    // No end of a line is behind the last row; a further page has at least one row.
    parts.push(page === 0 ? text : text.slice(text.indexOf(LINE_END)));
    name = NAME_IN_HEADER.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? name;
    cursor = response.headers.get('x-gateway-next-cursor');
    if (cursor === null) return { name, text: parts.join('') };
  }
  throw new Error('The CSV has more than 500,000 rows: choose a shorter time.');
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Gives the browser a file to keep. */
function keep({ name, text }: CsvFile): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

/** A button that saves what a query has as CSV. A refusal is told in place. */
export function CsvButton({ path, query }: { readonly path: string; readonly query: UsageQuery }) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const save = () => {
    setBusy(true);
    setError(undefined);
    void csvOf(path, query)
      .then(keep)
      .catch((problem: unknown) => {
        endSessionOn(problem);
        setError(problem);
      })
      .finally(() => setBusy(false));
  };
  return (
    <>
      <button type="button" onClick={save} disabled={isBusy}>
        {isBusy ? 'Loading…' : 'Save as CSV'}
      </button>
      {error !== undefined && <Problem error={error} />}
    </>
  );
}
