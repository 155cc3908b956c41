import {
  CreatePriceBookBody,
  ReplacePriceBookBody,
  WhatIfBody,
} from '../admin/dto/price-book.bodies.js';
import { viewPriceBook, viewWhatIf } from '../admin/views/price-book.view.js';
import { isJsonObject, type JsonObject } from '../common/json-object.js';
import { PageQuery } from '../common/paging/page.query.js';
import { viewPage } from '../common/paging/page.view.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import type { OperatorCommand } from './operator-command.js';
import type { Options } from './operator-request.js';
import { given, jsonOf, misused, sent, timeOf, timesOf } from './parse-options.js';

/** The fields of the file and of `--valid-from`. Throws 400. */
function termsOf(options: Options): JsonObject {
  const file = jsonOf(given(options, 'file')) ?? {};
  if (!isJsonObject(file)) throw misused('--file must be a file with a JSON object.');
  const validFrom = timeOf(options, 'valid-from');
  const factor = given(options, 'factor-permille');
  const both = [
    ...(factor !== undefined && 'factor_permille' in file ? ['factor-permille'] : []),
    ...(validFrom !== undefined && 'valid_from' in file ? ['valid-from'] : []),
  ];
  if (both.length > 0) throw misused(`Use --${both.join(', --')} or the same in the file.`);
  return { ...file, ...(validFrom !== undefined && { valid_from: validFrom }) };
}

/** The commands about price books. */
export const PRICE_BOOK_COMMANDS = {
  'price-books': {
    run: async ({ priceBooks }, _words, options) =>
      viewPage(await priceBooks.list(sent(PageQuery, options)), viewPriceBook),
  },
  'price-book': {
    run: async ({ priceBooks }, [id = '']) => viewPriceBook(await priceBooks.get(id)),
  },
  'price-book:create': {
    changes: true,
    run: async ({ priceBooks }, [id], options) => {
      const body = sent(CreatePriceBookBody, options, { ...termsOf(options), id });
      return viewPriceBook(await priceBooks.create(body));
    },
  },
  'price-book:replace': {
    changes: true,
    run: async ({ priceBooks }, [id = ''], options) => {
      const body = sent(ReplacePriceBookBody, options, termsOf(options));
      return viewPriceBook(await priceBooks.replace(id, body));
    },
  },
  'price-book:what-if': {
    run: async ({ priceBooks }, [id = ''], options) => {
      const { created_after: from, created_before: to } = timesOf(options);
      const body = validatorOf(WhatIfBody).parse({ from, to });
      return viewWhatIf(await priceBooks.whatIf(id, body));
    },
  },
  'price-book:delete': {
    changes: true,
    question: async ({ priceBooks }, [id = '']) => {
      await priceBooks.get(id);
      return { asks: `This deletes price book ${id} for ever.`, scriptsGoAhead: true };
    },
    run: async ({ priceBooks }, [id = '']) => {
      await priceBooks.delete(id);
      return { id, deleted: true };
    },
  },
} as const satisfies Readonly<Record<string, OperatorCommand>>;
