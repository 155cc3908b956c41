import { ApiProperty } from '@nestjs/swagger';
import { endpointsOf, IMAGE_EDITS, OPERATION_NAMES, OPERATIONS } from '../catalog/operations.js';
import type { ModelRow } from '../catalog/model-row.js';
import { VOICE_NAMES } from '../catalog/voices.js';
import type { Operation } from '../providers/ports/provider-ports.js';
import { PriceView, viewPrice } from '../catalog/price.view.js';
import { PricingView, viewPricing } from '../catalog/pricing.view.js';

/** Date of the catalog, which models show as `created`: 2026-11-20. */
export const CATALOG_EPOCH_SECONDS = 1_795_132_800;
/** A neutral word, because the gateway names no vendor (decision G-90). */
const OWNER = 'gateway';

/** Input and output modalities. */
export class ArchitectureView {
  @ApiProperty({
    example: 'text+image->text',
    description: 'What goes in and what comes out, in one text',
  })
  modality!: string;

  @ApiProperty({ type: [String], example: ['text', 'image'], description: 'Kinds of input' })
  input_modalities!: readonly string[];

  @ApiProperty({ type: [String], example: ['text'], description: 'Kinds of output' })
  output_modalities!: readonly string[];

  @ApiProperty({ enum: ['Other'], description: 'Name of the tokenizer; the gateway tells none' })
  tokenizer!: 'Other';

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'Always null: the gateway tells no format of prompts',
  })
  instruct_type!: null;
}

/** The bounds of one request. */
export class TopProviderView {
  @ApiProperty({ description: 'Always false: the gateway adds no moderation' })
  is_moderated!: boolean;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Tokens' })
  context_length!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Tokens' })
  max_completion_tokens!: number | null;
}

/** Links to details. */
export class ModelLinksView {
  @ApiProperty({ example: '/v1/models/aud-v4', description: 'Price, limits and fields' })
  details!: string;
}

/** One model of the list, with what model pickers read (API: GET /v1/models; decision G-90). */
export class ModelView {
  @ApiProperty({
    example: 'aud-v4',
    description: 'The name that requests send as `model`: an id or an alias',
  })
  id!: string;

  @ApiProperty({ enum: ['model'], description: 'Says what kind of object this is' })
  object!: 'model';

  @ApiProperty({ example: CATALOG_EPOCH_SECONDS, description: 'Epoch seconds' })
  created!: number;

  @ApiProperty({ example: OWNER, description: 'Always the gateway, which names no vendor' })
  owned_by!: string;

  @ApiProperty({
    enum: OPERATION_NAMES.flatMap(endpointsOf).map(({ endpointType }) => endpointType),
    isArray: true,
    description: 'Kinds of the operation that takes the model',
  })
  supported_endpoint_types!: string[];

  @ApiProperty({ example: 'aud-v4', description: 'The same as `id`' })
  name!: string;

  @ApiProperty({
    example: 'aud-v4',
    description: "The model's own id, also where `id` is an alias",
  })
  canonical_slug!: string;

  @ApiProperty({ example: 'Speech from text', description: 'What the model does' })
  description!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Tokens; null where it is not known',
  })
  context_length!: number | null;

  @ApiProperty({ type: ArchitectureView, description: 'What goes in and what comes out' })
  architecture!: ArchitectureView;

  @ApiProperty({ type: PricingView, description: 'Its price in USD, as model pickers read it' })
  pricing!: PricingView;

  @ApiProperty({ type: PriceView, description: 'Its price in micro-USD, exact for every unit' })
  price!: PriceView;

  @ApiProperty({ type: TopProviderView, description: 'Bounds of one request' })
  top_provider!: TopProviderView;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'Always null: limits are those of the key',
  })
  per_request_limits!: null;

  @ApiProperty({
    type: [String],
    example: ['model', 'input', 'voice'],
    description: 'Fields of its requests',
  })
  supported_parameters!: readonly string[];

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'Always null: defaults are in the description of each field',
  })
  default_parameters!: null;

  @ApiProperty({ type: [String], nullable: true, description: 'Null where no voice is chosen' })
  supported_voices!: readonly string[] | null;

  @ApiProperty({ type: ModelLinksView, description: 'Where its details are' })
  links!: ModelLinksView;
}

/** Further pages; there are none. */
export class ModelListLinksView {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Path of the next page; always null, for there is one page',
  })
  next!: null;
}

/** The model list. */
export class ModelListView {
  @ApiProperty({ enum: ['list'], description: 'Says what kind of object this is' })
  object!: 'list';

  @ApiProperty({ type: [ModelView], description: 'The models that the key may use' })
  data!: ModelView[];

  @ApiProperty({ type: 'integer', description: 'How many models there are' })
  total_count!: number;

  @ApiProperty({ type: ModelListLinksView, description: 'Where the next page is' })
  links!: ModelListLinksView;
}

/** A catalog row under one of its names. */
export interface ShownModel {
  readonly row: ModelRow;
  /** Its id or an alias. */
  readonly name: string;
  /** The fields of its requests. */
  readonly parameters: readonly string[];
  /** The path before `/v1` at which others reach this gateway. */
  readonly pathPrefix: string;
}

/** A catalog row as clients see it. */
export function viewModel({ row, name, parameters, pathPrefix }: ShownModel): ModelView {
  const operation = OPERATIONS[row.operation];
  const chat = row.operation === 'chat' ? row.limits : undefined;
  const ofInput = row.operation === 'embeddings' ? row.limits.maxInputTokens : undefined;
  const contextLength = chat?.contextLength ?? ofInput ?? null;
  return {
    id: name,
    object: 'model',
    created: CATALOG_EPOCH_SECONDS,
    owned_by: OWNER,
    supported_endpoint_types: endpointTypesOf(row),
    name,
    canonical_slug: row.id,
    description: operation.description,
    context_length: contextLength,
    architecture: viewArchitecture(row.operation),
    pricing: viewPricing(row),
    price: viewPrice(row),
    top_provider: {
      is_moderated: false,
      context_length: contextLength,
      max_completion_tokens: chat?.maxOutputTokens ?? null,
    },
    per_request_limits: null,
    supported_parameters: parameters,
    default_parameters: null,
    supported_voices: operation.hasVoice ? voiceNamesOf(row) : null,
    links: { details: `${pathPrefix}/v1/models/${encodeURIComponent(name)}` },
  };
}

function voiceNamesOf({ voices }: ModelRow): readonly string[] {
  return voices ? Object.keys(voices) : VOICE_NAMES;
}

function endpointTypesOf(row: ModelRow): string[] {
  const types = endpointsOf(row.operation).map(({ endpointType }) => endpointType);
  const editsImages = row.operation === 'image' && row.limits.maxEditImages !== undefined;
  return editsImages ? types : types.filter((type) => type !== IMAGE_EDITS.endpointType);
}

function viewArchitecture(operation: Operation): ArchitectureView {
  const { inputs, outputs } = OPERATIONS[operation];
  return {
    modality: `${inputs.join('+')}->${outputs.join('+')}`,
    input_modalities: inputs,
    output_modalities: outputs,
    tokenizer: 'Other',
    instruct_type: null,
  };
}
