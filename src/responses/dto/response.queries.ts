import { DoneAnyway, Enum, Int, Text } from '../../common/validation/fields.js';

/** Query (API: Stored responses). */
export class InputItemsQuery {
  @Int({ min: 1, max: 100, default: 20, description: 'Most items of a page' })
  limit!: number;

  @Enum(['asc', 'desc'], { default: 'desc', description: '`asc`: oldest first' })
  order!: 'asc' | 'desc';

  @Text({ max: 64, optional: true, description: 'Id of the last item of the page before' })
  after?: string;
}

/** Query (API: Stored responses). */
export class RetrieveResponseQuery {
  @DoneAnyway(false)
  stream?: boolean;
}
