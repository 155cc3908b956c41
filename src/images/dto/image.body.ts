import {
  MAX_IMAGES_OF_CALL,
  OUTPUT_FORMATS,
  type OutputFormat,
} from '../../catalog/image-choices.js';
import { Custom, DoneAnyway, Enum, Int, ModelId, Text } from '../../common/validation/fields.js';
import { DeferrableBody } from '../../tasks/deferred/deferrable.decorator.js';

const MAX_PROMPT = 32_000;
const MAX_WORD = 32;
const optional = { optional: true } as const;

/** The fields of images from a text and from other images. The row of a model tells what it accepts. */
export class ImageFields extends DeferrableBody {
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

  @Int({
    min: 1,
    max: MAX_IMAGES_OF_CALL,
    ...optional,
    description: 'How many images, at most `max_n` of the model; 1 by default',
  })
  n?: number;

  @DoneAnyway('b64_json')
  response_format?: 'b64_json';

  @Text({
    max: MAX_WORD,
    ...optional,
    description:
      'One of the `qualities` of the model; `auto` or left out, the first of them. A model without a list takes `auto` and its own quality, which its price is for',
    example: 'auto',
  })
  quality?: string;

  @Text({
    max: MAX_WORD,
    ...optional,
    description: '`auto`, or one of the `backgrounds` of the model, such as `transparent`',
    example: 'auto',
  })
  background?: string;

  @Enum(OUTPUT_FORMATS, {
    ...optional,
    description:
      'Type of the file, where the model lists `output_formats`; left out, its own choice',
  })
  output_format?: OutputFormat;

  @Int({
    min: 0,
    max: 100,
    ...optional,
    description: 'Of a `jpeg` or `webp`: 100 is the largest file',
  })
  output_compression?: number;

  @DoneAnyway('auto')
  moderation?: 'auto';

  @DoneAnyway(false)
  stream?: false;

  @DoneAnyway(0)
  partial_images?: 0;
}

/** Body (API: POST /v1/images/generations; decisions G-02, G-94). */
export class ImageBody extends ImageFields {}

/** Text fields of the form (API: POST /v1/images/edits). Its files never appear in the checked body. */
export class ImageEditBody extends ImageFields {
  @ModelId({ example: 'gen-image-edit-demo' })
  override model!: string;

  @Custom(() => false, 'must be file parts of the form', {
    ...optional,
    description:
      'A PNG, JPEG or WebP file. Up to 16 may be sent under this name or `image[]`, at most `max_edit_images` of the model and 50 MB in all',
    api: { type: 'string', format: 'binary' },
  })
  image?: never;

  @Custom(() => false, 'must be a file part of the form', {
    ...optional,
    description: 'An image of the size of the first one: where it is transparent, that is changed',
    api: { type: 'string', format: 'binary' },
  })
  mask?: never;

  @DoneAnyway('low')
  input_fidelity?: 'low';
}
