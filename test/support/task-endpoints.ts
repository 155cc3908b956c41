import type { DubbingHarness } from './dubbing-harness.js';
import { VIDEO, VIDEO_PRICE } from './video-harness.js';

/** An endpoint that makes tasks. */
interface TaskEndpoint {
  readonly path: string;
  /** Status of an accepted submission. */
  readonly status: number;
  readonly priceMicroUsd: bigint;
  /** Files that the gateway downloads for a submission. */
  readonly downloads: number;
  /** Error codes of an invalid body and of a balance that is too small. */
  readonly invalid: string;
  readonly insufficient: string;
  /** A body that is accepted. */
  readonly body: () => { readonly model: string };
  /** Fields that make another body of it. */
  readonly other: object;
}

/** Every endpoint that makes tasks: dubbing, songs, videos. The jobs get the magic input. */
export function taskEndpoints(
  harness: () => DubbingHarness,
  magic: string,
): readonly TaskEndpoint[] {
  return [
    {
      path: '/v1/audio/dubbing',
      status: 202,
      priceMicroUsd: 12_500n,
      downloads: 1,
      invalid: 'invalid_request',
      insufficient: 'insufficient_funds',
      body: () => ({
        model: 'aud-dubbing-v1',
        source_url: harness().source(magic),
        target_language: 'fr',
      }),
      other: { target_language: 'de' },
    },
    {
      path: '/v1/music/generations',
      status: 202,
      priceMicroUsd: 12_000n,
      downloads: 0,
      invalid: 'invalid_music_request',
      insufficient: 'insufficient_funds',
      body: () => ({ model: 'song-lyrics', prompt: `Rain on tin roofs ${magic}` }),
      other: { prompt: 'Snow' },
    },
    {
      path: '/v1/videos',
      status: 200,
      priceMicroUsd: VIDEO_PRICE,
      downloads: 0,
      invalid: 'invalid_request',
      insufficient: 'insufficient_user_quota',
      body: () => ({ ...VIDEO, prompt: `The sea ${magic}` }),
      other: { prompt: 'The moon' },
    },
  ];
}
