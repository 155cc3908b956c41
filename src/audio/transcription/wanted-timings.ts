import type { TranscriptionBody } from './dto/transcription.body.js';

/** Which timed parts of a transcript the caller gets, and what the provider is told about them. */
export interface WantedTimings {
  readonly words: boolean;
  readonly segments: boolean;
  /** The granularity that the provider is asked for; undefined leaves it to the provider, which times words. */
  readonly asked: TranscriptionBody['timestamps'];
}

/**
 * `timestamps` decides about words; without it the granularities of the OpenAI API do, and without these
 * `verbose_json` has both parts (decisions G-02, G-46).
 */
export function wantedTimings(body: TranscriptionBody): WantedTimings {
  const { timestamps, response_format: format } = body;
  const granularities = body.timestamp_granularities ?? body['timestamp_granularities[]'] ?? [];
  const isVerbose = format === 'verbose_json';
  const isNamed = granularities.length > 0;
  const words = isNamed ? granularities.includes('word') : isVerbose;
  return {
    words: timestamps === undefined ? words : timestamps !== 'none',
    segments: granularities.includes('segment') || (isVerbose && timestamps !== 'none'),
    asked: timestamps ?? (isNamed ? 'word' : undefined),
  };
}
