import type { CommandDeclaration, OptionDeclaration } from '../command-declaration.js';
import { ACCOUNT, MICRO_USD, operand, PAGE, YES, CELLS } from './shared-options.js';

const KEY = operand('KEY', 'Id of the key, key_…');

/** The terms of a key. `--clear` takes the same names. */
const TERMS: Readonly<Record<string, OptionDeclaration>> = {
  name: { value: 'TEXT', about: 'What it is for' },
  'allowed-models': { value: 'ID,ID', about: 'The only models that it may use. Absent: all' },
  models: { value: 'ID,ID', about: 'The former name of --allowed-models', isFormer: true },
  'expires-at': { value: 'TIME', about: 'Epoch seconds, a date (00:00 UTC) or a time in ISO 8601' },
  'requests-per-minute': { value: 'N', about: 'Its own rate limit' },
  'spend-limit-microusd': { value: 'N', about: `What it may spend in each period. ${MICRO_USD}` },
  'spend-limit-usd': { value: 'AMOUNT', about: 'The same in USD, such as 5.00' },
  'spend-limit-period': {
    value: 'day|month|total',
    about: 'A day or month of UTC, or its whole life, which is meant where none is named',
  },
  scopes: {
    value: 'SCOPE,SCOPE',
    about:
      'What it may do: read lists and accounts, call what is sold, manage keys that it makes. Absent: read,call',
  },
};

/** What the commands about API keys take. */
export const KEY_DECLARATIONS = {
  keys: {
    about: 'Lists the keys of an account, newest first',
    operands: [ACCOUNT],
    options: { ...CELLS, ...PAGE },
    example: 'keys acme',
  },
  key: { about: 'Shows a key', operands: KEY, options: CELLS, example: 'key key_…' },
  'key:create': {
    about: 'Issues a key for an account; its text is shown only here',
    operands: [ACCOUNT],
    options: TERMS,
    example: 'key:create acme --name ci --spend-limit-usd 5.00 --spend-limit-period month',
  },
  'key:update': {
    about: 'Changes the terms of a key, within 2 s on every process',
    operands: KEY,
    options: {
      ...TERMS,
      clear: {
        value: 'TERM,TERM',
        about:
          'Removes terms, by the names of their options: name, allowed-models, expires-at, requests-per-minute, spend-limit-microusd, spend-limit-period, scopes',
      },
    },
    example: 'key:update key_… --allowed-models aud-v4,gen-5 --clear expires-at',
  },
  'key:rotate': {
    about: 'Issues a successor of a key; the old one ends after the overlap',
    operands: KEY,
    options: {
      'overlap-seconds': { value: 'N', about: 'How long the old key still works. Absent: 0' },
    },
    example: 'key:rotate key_… --overlap-seconds 3600',
  },
  'key:revoke': {
    about: 'Revokes a key for ever, within 2 s on every process',
    operands: KEY,
    options: YES,
    example: 'key:revoke key_…',
  },
  'demo-key': { about: 'Issues another key of the demo account', example: 'demo-key' },
} as const satisfies Readonly<Record<string, CommandDeclaration>>;
