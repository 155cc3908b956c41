import type { TranscriptionBody } from '../dto/recordings.body.js';

/** The timed parts of a transcript that the caller gets, and the granularity that is requested from the provider. */
export interface WantedTimings {
  readonly words: boolean;
  readonly segments: boolean;
  /** The granularity that is requested; undefined where no timed part is wanted. */
  readonly requested: TranscriptionBody['timestamps'];
}

/**
 * `timestamps` decides whether there are words. Without it the granularities of the OpenAI API decide; without these,
 * `verbose_json` has both parts (decisions G-02, G-46).
 */
export function wantedTimings(body: TranscriptionBody): WantedTimings {
  const { timestamps, response_format: format } = body;
  const granularities = body.timestamp_granularities ?? body['timestamp_granularities[]'] ?? [];
  const isVerbose = format === 'verbose_json';
  const isNamed = granularities.length > 0;
  const words = isNamed ? granularities.includes('word') : isVerbose;
  const isTimed = isNamed || isVerbose;
  return {
    words: timestamps === undefined ? words : timestamps !== 'none',
    segments: granularities.includes('segment') || (isVerbose && timestamps !== 'none'),
    // Segments are made of words.
    requested: timestamps ?? (isTimed ? 'word' : undefined),
  };
}

/** The field by which the caller asked for timed parts. */
export function timingsField(body: TranscriptionBody): string {
  const fields = ['timestamps', 'timestamp_granularities', 'timestamp_granularities[]'] as const;
  return fields.find((field) => body[field] !== undefined) ?? 'response_format';
}
