import { Custom, Nested, Num, Text } from '../../common/validation/fields.js';

/** Most requests of a list. */
export const MAX_QUOTES = 1_000;
const MAX_PATH = 500;
const MAX_METHOD = 10;
/** Longer than any recording that a model takes. */
const MAX_SECONDS = 1_000_000;
const optional = { optional: true } as const;

/** A request that would be sent. */
export class QuotedRequestBody {
  @Text({ max: MAX_METHOD, ...optional, description: 'Its method; absent: POST', example: 'POST' })
  method?: string;

  @Text({ max: MAX_PATH, description: 'Its path', example: '/v1/audio/speech' })
  path!: string;

  @Custom(() => true, 'may be anything', {
    ...optional,
    description: 'Its JSON body; of a form the same fields as JSON, without the file',
    example: { model: 'aud-v4', input: 'Hello', voice: 'Adam' },
    api: { type: 'object', additionalProperties: true },
  })
  body?: unknown;

  @Num({
    min: 0.000_001,
    max: MAX_SECONDS,
    ...optional,
    description: 'Length of its recording in seconds, which a quote does not measure',
    example: 12.3,
  })
  duration_seconds?: number;
}

/** Body of POST /v1/quotes: one request, or a list of them. */
export class QuoteBody extends QuotedRequestBody {
  @Text({ max: MAX_PATH, ...optional, description: 'Its path', example: '/v1/audio/speech' })
  declare path: string;

  @Nested(() => QuotedRequestBody, {
    ...optional,
    list: { min: 1, max: MAX_QUOTES },
    description: 'Requests in place of one; each counts as a read of the key',
  })
  requests?: QuotedRequestBody[];
}
