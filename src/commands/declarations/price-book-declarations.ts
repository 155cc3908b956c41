import type { CommandDeclaration, OptionDeclaration } from '../command-declaration.js';
import { operand, PAGE, YES } from './shared-options.js';

const BOOK = operand('BOOK', 'Id of the price book, a name of your own');

/** What a price book says. */
const TERMS: Readonly<Record<string, OptionDeclaration>> = {
  'factor-permille': {
    value: 'N',
    about:
      'Thousandths of the listed price that is paid, 1 to 10000, for models without a price in the file. Absent: 1000',
  },
  file: {
    value: 'FILE',
    isFile: true,
    about:
      'JSON with prices of single models, {"models": [{"id", "price"}]} as in CATALOG_FILE; it may also have factor_permille and valid_from',
  },
  'valid-from': {
    value: 'TIME',
    about:
      'From when on: epoch seconds, a date (00:00 UTC) or a time in ISO 8601. Absent or past: from now on',
  },
};

/** What the commands about price books take. */
export const PRICE_BOOK_DECLARATIONS = {
  'price-books': {
    about: 'Lists price books, by id',
    options: PAGE,
    example: 'price-books',
  },
  'price-book': {
    about: 'Shows a price book, with its versions that begin later',
    operands: BOOK,
    example: 'price-book partners',
  },
  'price-book:create': {
    about: 'Creates a price book; account:update --price-book gives it to an account',
    operands: BOOK,
    options: TERMS,
    example: 'price-book:create partners --factor-permille 900',
  },
  'price-book:replace': {
    about: 'Replaces what a price book says, within 2 s on every process or from a time on',
    operands: BOOK,
    options: {
      ...TERMS,
      'replaces-version': {
        value: 'N',
        about:
          'The newest_version that you have read. Refused where somebody has written another one since',
      },
    },
    example: 'price-book:replace partners --file partners.json --valid-from 2027-01-01',
  },
  'price-book:what-if': {
    about: 'Says what every account would have paid by a price book; changes nothing',
    operands: BOOK,
    options: {
      from: { value: 'DAY', about: 'First day (UTC). Absent: that of the last whole month' },
      to: { value: 'DAY', about: 'Last day (UTC), included' },
    },
    example: 'price-book:what-if partners --from 2026-11-01 --to 2026-11-30',
  },
  'price-book:delete': {
    about: 'Deletes a price book that no account has',
    operands: BOOK,
    options: YES,
    example: 'price-book:delete partners',
  },
} as const satisfies Readonly<Record<string, CommandDeclaration>>;
