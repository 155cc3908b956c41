import { DoneAnyway, Enum, Int, Text } from '../../common/validation/fields.js';

/** Query (API: GET /v1/responses/{id}/input_items). */
export class InputItemsQuery {
  @Int({ min: 1, max: 100, default: 20, description: 'Most items of a page' })
  limit!: number;

  @Enum(['asc', 'desc'], { default: 'desc', description: '`asc`: oldest first' })
  order!: 'asc' | 'desc';

  @Text({ max: 64, optional: true, description: 'Id of the last item of the page before' })
  after?: string;
}

/** Query (API: GET /v1/responses/{id}). */
export class RetrieveResponseQuery {
  @DoneAnyway(false)
  stream?: boolean;
}
