import type { OperandDeclaration, OptionDeclaration } from '../command-declaration.js';

type Options = Readonly<Record<string, OptionDeclaration>>;

/** An account, by its id or by its name where no other account has it. */
export const ACCOUNT = {
  name: 'ACCOUNT',
  about: 'Id of the account, or its name where it is unique',
};

/** Amounts in micro-USD are whole: 1000000 are 1 USD. */
export const MICRO_USD = 'Micro-USD: 1000000 are 1 USD';

/** A page of a list, or all of them. */
export const PAGE: Options = {
  limit: { value: 'N', about: 'Rows of a page' },
  cursor: { value: 'C', about: 'Goes on where the page before ended, which named it' },
  all: { about: 'Every page, one after the other' },
};

/** For commands that may be asked of several cells at once. */
export const CELLS: Options = {
  cells: {
    value: 'URL,URL',
    about: 'Asks the databases of these cells, not this gateway, and makes one answer of theirs',
  },
};

/** The time of what is listed. */
export const TIMES: Options = {
  from: { value: 'DAY', about: 'First day (UTC), such as 2026-01-01' },
  to: { value: 'DAY', about: 'Last day (UTC), included' },
  'created-after': {
    value: 'TIME',
    about: 'From this time on: epoch seconds, a date or a time in ISO 8601',
  },
  'created-before': { value: 'TIME', about: 'Before this time; a date means its 00:00 UTC' },
};

/** Filters of lists of calls and tasks. */
export const CALL_FILTERS: Options = {
  'account-id': { value: 'ACCOUNT', about: ACCOUNT.about },
  'api-key-id': { value: 'KEY', about: 'Id of the key' },
  model: { value: 'MODEL', about: 'Id of the model' },
  status: { value: 'STATUS', about: 'State of the call or task' },
  ...TIMES,
  'client-request-id': { value: 'ID', about: 'As the caller sent it in X-Client-Request-Id' },
};

/** Answers the question of a command beforehand. */
export const YES: Options = { yes: { about: 'Does it without asking' } };

/** Why money is given back or a balance set right. */
export const REASONS = 'goodwill|fault|billing_error';

/** What a refund takes. */
export const REFUND: Options = {
  'amount-microusd': { value: 'N', about: `${MICRO_USD}. Absent: all that is left of the charge` },
  usd: { value: 'AMOUNT', about: 'The amount in USD instead, such as 0.05' },
  reason: { value: REASONS, about: 'Why, as the holder sees it' },
  note: { value: 'TEXT', about: 'A note of your own, shown to operators only' },
  'idempotency-key': {
    value: 'KEY',
    about: 'The same key refunds once. Absent: a new one, which is printed',
  },
  ...YES,
};

/** An operand that must be there. */
export const operand = (name: string, about: string): readonly OperandDeclaration[] => [
  { name, about },
];
