import { DoneAnyway, ModelId, Text } from '../../common/validation/fields.js';

const MAX_PROMPT = 32_000;
const MAX_WORD = 32;
const optional = { optional: true } as const;

/** Body (API: POST /v1/images/generations; decisions G-02, G-94). */
export class ImageBody {
  @ModelId({ example: 'gen-image-2' })
  model!: string;

  @Text({
    max: MAX_PROMPT,
    description: 'Description of the image',
    example: 'A lighthouse at night',
  })
  prompt!: string;

  @Text({
    max: MAX_WORD,
    ...optional,
    description:
      '`1024x1024`, `1536x1024` or `1024x1536`; `auto` or left out, the framing is automatic',
    example: '1024x1024',
  })
  size?: string;

  @DoneAnyway(1)
  n?: 1;

  @DoneAnyway('b64_json')
  response_format?: 'b64_json';

  @Text({
    max: MAX_WORD,
    ...optional,
    description: '`auto` or the quality of the model, which is the one that its price is for',
    example: 'auto',
  })
  quality?: string;

  @DoneAnyway('auto')
  background?: 'auto';

  @DoneAnyway('auto')
  moderation?: 'auto';

  @DoneAnyway(false)
  stream?: false;

  @DoneAnyway(0)
  partial_images?: 0;
}
