import { ApiBody } from '@nestjs/swagger';
import { DUBBING_LANGUAGES } from '../../catalog/languages.js';
import { EXAMPLE_RECORDING, exampleMediaUrl } from '../../common/example-media.js';
import { Bool, ModelId, Enum, Text, Int } from '../../common/validation/fields.js';
import { MAX_URL_CHARACTERS } from '../../platform/http-client/public-url.js';
import { AudioWebhook, AudioWebhookSecret } from '../../webhooks/webhook-fields.js';

const MAX_SPEAKERS = 32;
const optional = { optional: true } as const;

const EXAMPLE = {
  model: 'aud-dubbing-v1',
  source_url: exampleMediaUrl(EXAMPLE_RECORDING),
  target_language: 'fr',
};

/** Body of POST /v1/audio/dubbing. */
export class DubbingBody {
  @ModelId({ example: EXAMPLE.model })
  model!: string;

  @Text({
    max: MAX_URL_CHARACTERS,
    description:
      'Public http or https URL of an MP4, MOV, WebM, MP3, WAV, M4A, AAC, FLAC or OGG file of at most 50 MB and 30 minutes',
    example: EXAMPLE.source_url,
  })
  source_url!: string;

  @Enum(DUBBING_LANGUAGES, {
    description: 'Language of the dub',
    example: EXAMPLE.target_language,
  })
  target_language!: string;

  @Enum(['auto', ...DUBBING_LANGUAGES], { default: 'auto', description: 'Language of the source' })
  source_language!: string;

  @Int({
    min: 0,
    max: MAX_SPEAKERS,
    ...optional,
    description: 'How many speakers there are; 0 detects them',
  })
  num_speakers?: number;

  @Bool({ ...optional, description: 'The highest resolution there is, for video' })
  highest_resolution?: boolean;

  @Bool({ ...optional, description: 'Leave background audio out of the dub' })
  drop_background_audio?: boolean;

  @AudioWebhook()
  webhook?: string;

  @AudioWebhookSecret()
  webhook_secret?: string;
}

/** Documents the body with the required fields only, because the webhook of an example would be called. */
export function DubbingExample(): MethodDecorator {
  return ApiBody({ type: DubbingBody, examples: { 'by URL': { value: EXAMPLE } } });
}
