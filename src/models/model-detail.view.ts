import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ModelRow } from '../catalog/model-row.js';
import type { PriceRule } from '../catalog/price-rule.js';
import { formatMicroUsd } from '../common/money/micro-usd.js';
import type { FieldLimits } from './model-parameters.js';
import { ModelView, viewModel } from './model.view.js';

const MICROS_PER_SECOND = 1_000_000;
/** Fields whose bounds are those of the row or its price. What the fields accept in general is more than that. */
const TOLD_BY_ROW = new Set([
  'model',
  'input',
  'size',
  'aspect_ratio',
  'image_urls',
  'seconds',
  'max_tokens',
  'max_completion_tokens',
]);
const UNITS = ['request', 'image', 'code_point', 'second', 'token'] as const;

/** The price of a model. Amounts are micro-USD in digits; only those of its unit are present. */
export class PriceView {
  @ApiProperty({ enum: UNITS, description: 'What is counted' })
  unit!: (typeof UNITS)[number];

  @ApiPropertyOptional({ example: '120', description: 'Per unit' })
  amount_microusd?: string;

  @ApiPropertyOptional({ description: 'Per request in Max mode' })
  max_mode_amount_microusd?: string;

  @ApiPropertyOptional({ description: 'Per million prompt tokens' })
  input_per_million?: string;

  @ApiPropertyOptional({ description: 'Per million completion tokens' })
  output_per_million?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Per request, by its `seconds`',
  })
  by_seconds?: Record<string, string>;
}

/** A model with everything that a caller needs to know (interface: GET /v1/models/{id}). */
export class ModelDetailView extends ModelView {
  @ApiProperty({ example: '/v1/audio/speech' })
  endpoint!: string;

  @ApiProperty({ type: PriceView })
  price!: PriceView;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { max_input: 10_000, speed: { min: 0.7, max: 1.2 } },
    description:
      'Bounds of the model and, under the name of each field, those of the field. Lengths are Unicode code points',
  })
  limits!: Record<string, unknown>;

  @ApiProperty({ type: [String], example: ['model', 'input', 'voice'], description: 'Its fields' })
  parameters!: string[];
}

/** The row with its price and limits, its endpoint and the fields of its requests. */
export function viewModelDetail(
  row: ModelRow,
  endpoint: string,
  fields: ReadonlyMap<string, FieldLimits>,
  name = row.id,
): ModelDetailView {
  const price = priceOf(row.price, row.operation === 'image');
  const limits = { ...limitsOf(fields), ...limitsOfRow(row) };
  return { ...viewModel(row, name), endpoint, price, limits, parameters: [...fields.keys()] };
}

function priceOf(rule: PriceRule, isImage: boolean): PriceView {
  switch (rule.unit) {
    case 'token':
      return {
        unit: 'token',
        input_per_million: formatMicroUsd(rule.inputMicroUsdPerMillion),
        output_per_million: formatMicroUsd(rule.outputMicroUsdPerMillion),
      };
    case 'video': {
      const amounts = Object.entries(rule.microUsdBySeconds).map(([seconds, amount]) => [
        seconds,
        formatMicroUsd(amount),
      ]);
      return { unit: 'request', by_seconds: Object.fromEntries(amounts) as Record<string, string> };
    }
    case 'request': {
      const { microUsd, maxModeMicroUsd: maxMode } = rule;
      return {
        unit: isImage ? 'image' : 'request',
        amount_microusd: formatMicroUsd(microUsd),
        ...(maxMode !== undefined && { max_mode_amount_microusd: formatMicroUsd(maxMode) }),
      };
    }
    case 'code_point':
      return { unit: 'code_point', amount_microusd: formatMicroUsd(rule.microUsd) };
    case 'measured_second':
    case 'requested_second':
      return { unit: 'second', amount_microusd: formatMicroUsd(rule.microUsd) };
  }
}

/** The fields with a bound that holds for every model of the endpoint. */
function limitsOf(fields: ReadonlyMap<string, FieldLimits>): Record<string, unknown> {
  const bounded = [...fields].filter(
    ([name, limits]) => !TOLD_BY_ROW.has(name) && Object.keys(limits).length > 0,
  );
  return Object.fromEntries(bounded);
}

/** The limits under wire names. The shape of a song's body is no limit; lengths are in seconds. */
function limitsOfRow(row: ModelRow): Record<string, unknown> {
  const limits: Record<string, unknown> = {};
  const known: Record<string, unknown> = { ...row.limits };
  for (const [name, value] of Object.entries(known)) {
    if (name === 'shape') continue;
    if (name === 'stemTypes') limits.stem_type = { values: value };
    else if (name === 'minMicros') limits.min_seconds = Number(value) / MICROS_PER_SECOND;
    else limits[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value;
  }
  return limits;
}
