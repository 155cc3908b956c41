import { api, CONSOLE_PATH, type Shape } from '../shared/api.js';
import { useAnswer } from '../shared/queries.js';
import { Tabs } from '../shared/tabs.js';

export type Statement = Shape<'StatementView'>;

const MONTHS_OF_YEAR = 12;
const UTC_MONTH = new Intl.DateTimeFormat('en-GB', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** The month of UTC that is `back` months before the running one, as `2026-11`. */
export function monthBack(back: number, now = new Date()): string {
  const months = now.getUTCFullYear() * MONTHS_OF_YEAR + now.getUTCMonth() - back;
  const month = String((months % MONTHS_OF_YEAR) + 1).padStart(2, '0');
  return `${Math.floor(months / MONTHS_OF_YEAR)}-${month}`;
}

/** The month after one, or before it. */
export function monthBeside(month: string, by: 1 | -1): string {
  return monthBack(-by, new Date(`${month}-01T00:00:00Z`));
}

/** `2026-11` as "November 2026"; a text that is no month as it is. */
export function monthWords(month: string): string {
  const first = new Date(`${month}-01T00:00:00Z`);
  return Number.isNaN(first.getTime()) ? month : UTC_MONTH.format(first);
}

/** The statement of a month. */
export const useStatement = (month: string) =>
  useAnswer(['statement', month], () =>
    api.GET('/v1/statements/{month}', { params: { path: { month }, query: {} } }),
  );

/** The address of an answer that the browser opens or keeps itself; it goes through the session. */
export function answerUrl(path: string, query: Readonly<Record<string, string | number>>): string {
  const words = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  );
  return `${CONSOLE_PATH}/api${path}?${words.toString()}`;
}

const TABS = [
  ['/statements', 'By month'],
  ['/ledger', 'All entries'],
] as const;

/** Between the months and the entries. */
export const StatementTabs = ({ open }: { readonly open: (typeof TABS)[number][0] }) => (
  <Tabs name="Kinds of records of money" of={TABS} open={open} />
);
