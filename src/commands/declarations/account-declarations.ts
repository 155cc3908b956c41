import type { CommandDeclaration } from '../command-declaration.js';
import { ACCOUNT, MICRO_USD, operand, PAGE, REASONS, TIMES, YES, CELLS } from './shared-options.js';

/** What the commands about accounts and their money take. */
export const ACCOUNT_DECLARATIONS = {
  accounts: {
    about: 'Lists accounts, newest first',
    options: {
      ...CELLS,
      name: { value: 'PREFIX', about: 'What the name begins with, in any case' },
      'available-below': { value: 'N', about: `Those with less to spend. ${MICRO_USD}` },
      'available-below-usd': { value: 'AMOUNT', about: 'The same in USD, such as 5.00' },
      sort: {
        value: 'available|spent|burn',
        about: 'Those first that have the least to spend, spent most, or spend most per day',
      },
      ...PAGE,
    },
    example: 'accounts --available-below-usd 1.00 --sort available',
  },
  account: {
    about: 'Shows an account with its balance and the credits that it consists of',
    operands: [ACCOUNT],
    options: CELLS,
    example: 'account acme',
  },
  'account:create': {
    about: 'Creates an account',
    operands: operand('NAME', 'Its name'),
    options: {
      'play-money': {
        value: 'true|false',
        about:
          "Its credits buy the sandbox's work only. Absent: true while the sandbox serves every provider",
      },
    },
    example: 'account:create acme',
  },
  'account:update': {
    about:
      'Renames, disables or enables an account, gives it a price book or a mark of a low balance, or keeps its answers',
    operands: [ACCOUNT],
    options: {
      name: { value: 'TEXT', about: 'Its new name' },
      disabled: { value: 'true|false', about: 'Refuses all calls of its keys within 2 s' },
      'price-book': { value: 'BOOK', about: 'The price book by which it pays within 2 s' },
      'low-balance-microusd': {
        value: 'N',
        about: `Its endpoints are told balance.low when it has less to spend. ${MICRO_USD}`,
      },
      'low-balance-usd': { value: 'AMOUNT', about: 'The same in USD, such as 5.00' },
      'keep-answers': {
        value: 'true|false',
        about: 'Keeps the answers of its synchronous calls for 24 hours',
      },
      clear: {
        value: 'price-book,low-balance-microusd',
        about: 'Takes its price book away: it pays the listed prices; or its mark',
      },
    },
    example: 'account:update acme --disabled true',
  },
  'account:credit': {
    about: 'Credits an account; a negative amount corrects its balance',
    operands: [
      ACCOUNT,
      {
        name: 'AMOUNT_MICROUSD',
        about: `${MICRO_USD}. Negative takes money back`,
        insteadOf: ['usd'],
      },
    ],
    options: {
      usd: { value: 'AMOUNT', about: 'The amount in USD instead, such as 5.00' },
      note: { value: 'TEXT', about: 'What for; it is shown to operators only' },
      reason: { value: REASONS, about: 'Of a correction: why, as the holder sees it' },
      'credit-kind': {
        value: 'paid|granted',
        about: 'Of a credit: granted money is given, and is spent first. Absent: paid',
      },
      'expires-at': {
        value: 'TIME',
        about:
          'Of a credit: when its rest expires: epoch seconds, a date (00:00 UTC) or a time in ISO 8601',
      },
      'payment-reference': {
        value: 'TEXT',
        about: 'Of a credit: what the payment is called elsewhere; its holder sees it',
      },
      currency: { value: 'CODE', about: 'Of a credit: the currency that was paid in, such as EUR' },
      'tax-microusd': { value: 'AMOUNT', about: `Of a credit: the tax in it. ${MICRO_USD}` },
      'tax-usd': { value: 'AMOUNT', about: 'The same in USD, such as 0.95' },
      'idempotency-key': {
        value: 'KEY',
        about: 'The same key credits once, such as the number of an invoice. Absent: a new one',
      },
      ...YES,
    },
    notes: [
      'A negative amount, and one below 10000 micro-USD (0.01 USD) without --usd, ask first.',
    ],
    example: 'account:credit acme --usd 5.00 --idempotency-key invoice-1',
  },
  'account:erase-content': {
    about: 'Erases all stored responses of an account and their conversations at once',
    operands: [ACCOUNT],
    options: YES,
    notes: ['It asks first. What is still being made is not stored when it ends.'],
    example: 'account:erase-content acme',
  },
  sessions: {
    about: 'Lists who is signed in to the console, newest session first',
    options: PAGE,
    example: 'sessions',
  },
  'session:end': {
    about: 'Ends a session of the console; its next request is refused',
    operands: operand('SESSION', 'Id of the session'),
    example: 'session:end ses_…',
  },
  'account:portal-link': {
    about: 'Makes a link that lets a customer into the console: once, within 10 minutes, to read',
    operands: [ACCOUNT],
    options: { scopes: { value: 'read', about: 'What the session may do. Absent: read' } },
    example: 'account:portal-link acme',
  },
  statement: {
    about: 'Shows the statement of a month of an account',
    operands: [ACCOUNT, { name: 'MONTH', about: 'A month of UTC, such as 2026-11' }],
    options: {
      csv: {
        about: 'Prints CSV with every entry: lines whose amounts add up to the closing balance',
      },
      html: { about: 'Prints a page to print' },
    },
    example: 'statement acme 2026-11 --html > acme-2026-11.html',
  },
  ledger: {
    about: 'Lists the entries of an account, newest first, or of all accounts, one after the other',
    operands: [{ ...ACCOUNT, isOptional: true }],
    options: {
      ...CELLS,
      kind: { value: 'credit|correction|charge|expiry', about: 'Kind of the entry' },
      'correction-kind': {
        value: 'refund|reversal|adjustment',
        about:
          'Of corrections: given back by an operator, given back after an error, or set right by an operator',
      },
      reason: { value: REASONS, about: 'Of refunds and corrections: why' },
      'idempotency-key': { value: 'KEY', about: 'The entry that was made with this key' },
      model: { value: 'MODEL', about: 'Model of the call or task' },
      'api-key-id': { value: 'KEY', about: 'Key of the call or task' },
      ...TIMES,
      csv: { about: 'Prints CSV, with dates and USD; without --limit all entries' },
      ...PAGE,
    },
    example: 'ledger --from 2026-11-01 --to 2026-11-30 --csv > ledger.csv',
  },
} as const satisfies Readonly<Record<string, CommandDeclaration>>;
