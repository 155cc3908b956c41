import type { MediaLimits, ModelRow } from '../model-row.js';

const PROVIDER = 'elevenlabs';
const routeTo = (upstreamModel: string) => [{ provider: PROVIDER, upstreamModel }];

const text = <O extends 'speech' | 'dialogue'>(
  operation: O,
  id: string,
  upstreamModel: string,
  microUsd: bigint,
  maxInput: number,
) => ({
  id,
  operation,
  routes: routeTo(upstreamModel),
  price: { unit: 'code_point' as const, microUsd },
  limits: { maxInput },
  enabled: true,
});

type Measured = 'transcription' | 'alignment' | 'voice-change' | 'isolation' | 'dubbing';
const measured = <O extends Measured>(
  operation: O,
  id: string,
  upstreamModel: string,
  microUsd: bigint,
  limits: MediaLimits,
) => ({
  id,
  operation,
  routes: routeTo(upstreamModel),
  price: { unit: 'measured_second' as const, microUsd },
  limits,
  enabled: true,
});

const requested = <O extends 'sound-effect' | 'composition'>(
  operation: O,
  id: string,
  upstreamModel: string,
  microUsd: bigint,
) => ({
  id,
  operation,
  routes: routeTo(upstreamModel),
  price: { unit: 'requested_second' as const, microUsd },
  limits: {},
  enabled: true,
});

/** Audio models (API: Shared audio rules; prices of decision G-30). */
export const AUDIO_MODELS = [
  text('speech', 'aud-v4', 'eleven_v4', 120n, 10_000),
  text('speech', 'aud-v3', 'eleven_v3', 120n, 5_000),
  text('speech', 'aud-multilingual-v2', 'eleven_multilingual_v2', 120n, 10_000),
  text('speech', 'aud-flash-v2.5', 'eleven_flash_v2_5', 60n, 40_000),
  text('dialogue', 'aud-v4-dialogue', 'eleven_v4', 120n, 2_000),
  text('dialogue', 'aud-v3-dialogue', 'eleven_v3', 120n, 2_000),
  measured('transcription', 'aud-transcribe-v2', 'scribe_v2', 92n, { maxSeconds: 7_200 }),
  measured('alignment', 'aud-forced-alignment', 'forced_alignment', 92n, { maxSeconds: 3_600 }),
  measured('voice-change', 'aud-multilingual-sts-v2', 'eleven_multilingual_sts_v2', 3_000n, {
    maxSeconds: 300,
  }),
  measured('voice-change', 'aud-english-sts-v2', 'eleven_english_sts_v2', 3_000n, {
    maxSeconds: 300,
  }),
  measured('isolation', 'aud-voice-isolator', 'audio_isolation', 3_000n, {
    maxSeconds: 3_600,
    minMicros: 4_600_000,
  }),
  requested('sound-effect', 'aud-sound-effects-v2', 'eleven_text_to_sound_v2', 3_000n),
  requested('composition', 'aud-music-v2.5', 'music_v2_5', 3_750n),
  measured('dubbing', 'aud-dubbing-v1', 'dubbing_v1', 12_500n, { maxSeconds: 1_800 }),
] as const satisfies readonly ModelRow[];
