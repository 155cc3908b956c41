import { Text, Int } from '../validation/fields.js';

const MAX_CURSOR = 100;
const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 20;

/** Query of every list. */
export class PageQuery {
  @Text({ max: MAX_CURSOR, optional: true, description: '`next_cursor` of the page before' })
  cursor?: string;

  @Int({ min: 1, max: MAX_LIMIT, default: DEFAULT_LIMIT, description: 'Most rows of the page' })
  limit!: number;
}
