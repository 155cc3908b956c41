import { Enum, Examined, Int, ModelId, Text } from '../../common/validation/fields.js';
import { MAX_DIMENSIONS } from '../../providers/ports/embedding.port.js';
import { OWN_LABEL } from '../../text/text-fields.js';
import {
  embeddingInputFault,
  type InputField,
  MAX_INPUTS,
  MAX_TOKENS,
} from '../embedding-inputs.js';

const optional = { optional: true } as const;
const TEXT = { type: 'string', minLength: 1 } as const;
const TOKENS = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } } as const;
const list = <Item>(items: Item) =>
  ({ type: 'array', minItems: 1, maxItems: MAX_INPUTS, items }) as const;

/** Body (API: POST /v1/embeddings). */
export class EmbeddingsBody {
  @ModelId({ example: 'gen-embed-demo' })
  model!: string;

  @Examined(embeddingInputFault, {
    description: `One text or up to ${MAX_INPUTS}, or their token ids; ${MAX_TOKENS.toLocaleString('en')} tokens in all`,
    example: ['The lighthouse stands at night', 'A tower by the sea'],
    api: { oneOf: [TEXT, list(TEXT), TOKENS, list(TOKENS)] },
  })
  input!: InputField;

  @Enum(['float', 'base64'], {
    default: 'float',
    description: 'Numbers, or the bytes of 32-bit numbers, lowest first, in base64',
  })
  encoding_format!: 'float' | 'base64';

  @Int({
    min: 1,
    max: MAX_DIMENSIONS,
    ...optional,
    description: 'How many numbers each vector has, where the limits of the model say so',
    example: 256,
  })
  dimensions?: number;

  @Text({
    ...OWN_LABEL,
    description: 'Your own name for the person who asks, passed to the provider',
  })
  user?: string;
}
