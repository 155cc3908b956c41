import type { ResponseFormat } from '../../../platform/http-server/responses/audio-response.js';
import { Bool, Num, Int } from '../../../common/validation/fields.js';
import { AudioFormatField, MAX_SEED, VoiceField } from '../../audio-fields.js';
import { recordingBody } from '../../recording.body.js';

const optional = { optional: true } as const;

/** Body (API: POST /v1/audio/voice-changer). */
export class VoiceChangerBody extends recordingBody('aud-multilingual-sts-v2') {
  @VoiceField()
  voice!: string;

  @Num({ min: 0, max: 1, ...optional })
  stability?: number;

  @Num({ min: 0, max: 1, ...optional })
  similarity_boost?: number;

  @Num({ min: 0, max: 1, ...optional })
  style?: number;

  @Bool(optional)
  use_speaker_boost?: boolean;

  @Bool(optional)
  remove_background_noise?: boolean;

  @Int({ min: 0, max: MAX_SEED, ...optional })
  seed?: number;

  @AudioFormatField()
  response_format!: ResponseFormat;
}
