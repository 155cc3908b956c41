import { Bool, ModelId, Text } from '../../common/validation/fields.js';
import { MAX_URL_CHARACTERS } from '../../platform/http-client/public-url.js';
import { VideoWebhook, VideoWebhookSecret } from '../../webhooks/webhook-fields.js';

const MAX_PROMPT = 32_000;
const MAX_VALUE = 32;
/** More than any model accepts. The row of the model has its own limit. */
const MAX_IMAGES = 16;
const optional = { optional: true } as const;

/** Body (API: POST /v1/videos; decision G-62). The row of a model tells what it accepts. */
export class VideoBody {
  @ModelId({ example: 'vid-motion' })
  model!: string;

  @Text({
    max: MAX_PROMPT,
    description: 'Subject, action, camera, lighting, audio intent',
    example: 'Waves roll slowly towards a lighthouse at dusk',
  })
  prompt!: string;

  @Text({
    max: MAX_VALUE,
    description: 'Length in seconds, one of those the model sells: `10`, or `5`, `10`, `15`',
    example: '5',
  })
  seconds!: string;

  @Text({
    max: MAX_VALUE,
    ...optional,
    description: '`<width>x<height>` in pixels, for `vid-omni` alone',
  })
  size?: string;

  @Text({
    max: MAX_VALUE,
    ...optional,
    description: '`<w>:<h>`, for the models that take it instead of `size`',
    example: '16:9',
  })
  aspect_ratio?: string;

  @Text({
    max: MAX_VALUE,
    ...optional,
    description:
      'Such as `720p`, where the model lists resolutions; left out, the first of its list',
  })
  resolution?: string;

  @Bool({
    ...optional,
    description:
      'Whether the video has sound, where the model lets you choose; left out, it has none',
  })
  audio?: boolean;

  @Text({
    max: MAX_URL_CHARACTERS,
    ...optional,
    description: 'Public http or https URL of the image with which the video begins',
  })
  first_frame_url?: string;

  @Text({
    max: MAX_URL_CHARACTERS,
    ...optional,
    description:
      'Public http or https URL of the image with which the video ends; needs `first_frame_url`',
  })
  last_frame_url?: string;

  @Text({
    max: MAX_URL_CHARACTERS,
    list: { min: 1, max: MAX_IMAGES },
    ...optional,
    description: 'Public http or https URLs of reference images, where the model takes them',
  })
  image_urls?: string[];

  @VideoWebhook()
  webhook?: string;

  @VideoWebhookSecret()
  webhook_secret?: string;
}
