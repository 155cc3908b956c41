import { ApiProperty } from '@nestjs/swagger';

/** A vector. */
class EmbeddingView {
  @ApiProperty({ enum: ['embedding'], description: 'Always `embedding`' })
  object!: 'embedding';

  @ApiProperty({ type: 'integer', example: 0, description: 'Place of its input' })
  index!: number;

  @ApiProperty({
    description: 'The numbers, or with `encoding_format` `base64` their bytes',
    oneOf: [
      { type: 'array', items: { type: 'number' } },
      { type: 'string', format: 'byte' },
    ],
    example: [0.0123, -0.0456, 0.0789],
  })
  embedding!: readonly number[] | string;
}

/** What was used and charged. */
class EmbeddingsUsageView {
  @ApiProperty({ type: 'integer', example: 12, description: 'Tokens of all inputs' })
  prompt_tokens!: number;

  @ApiProperty({ type: 'integer', example: 12, description: 'The same' })
  total_tokens!: number;

  @ApiProperty({ example: 0.000001, description: 'The charge in USD' })
  cost!: number;

  @ApiProperty({ type: 'integer', example: 1, description: 'The charge in micro-USD' })
  cost_microusd!: number;
}

/** The vectors (API: Embeddings response). */
export class EmbeddingsView {
  @ApiProperty({ enum: ['list'], description: 'Always `list`' })
  object!: 'list';

  @ApiProperty({ example: 'gen-embed-demo', description: 'The model as the request names it' })
  model!: string;

  @ApiProperty({ type: EmbeddingsUsageView, description: 'What was used and charged' })
  usage!: EmbeddingsUsageView;

  @ApiProperty({ type: [EmbeddingView], description: 'One for each input, in their order' })
  data!: EmbeddingView[];
}
