import { ApiProperty } from '@nestjs/swagger';
import type { ModelRow } from '../catalog/model-row.js';
import { routeNamesOf } from '../admission/route-choice.js';
import type { FieldLimits } from './model-parameters.js';
import { ModelView, type ShownModel, viewModel } from './model.view.js';

const MICROS_PER_SECOND = 1_000_000;
/** Fields whose bounds come from the row or its price. The request class alone would allow more. */
const LIMITED_BY_ROW = new Set([
  'model',
  'input',
  'size',
  'aspect_ratio',
  'dimensions',
  'image_urls',
  'resolution',
  'first_frame_url',
  'last_frame_url',
  'seconds',
  'max_tokens',
  'max_completion_tokens',
]);

/** A model with everything that a caller needs to know (API: GET /v1/models/{id}). */
export class ModelDetailView extends ModelView {
  @ApiProperty({
    example: '/v1/audio/speech',
    description: 'Path of the operation that takes the model',
  })
  endpoint!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { max_input: 10_000, speed: { min: 0.7, max: 1.2 } },
    description:
      'Bounds of the model and, under the name of each field, those of the field. Lengths are Unicode code points',
  })
  limits!: Record<string, unknown>;

  @ApiProperty({ type: [String], example: ['model', 'input', 'voice'], description: 'Its fields' })
  parameters!: readonly string[];

  @ApiProperty({
    type: [String],
    required: false,
    example: ['route-1', 'route-2'],
    description: 'Names for `x-gateway-route`, where callers may order or exclude the routes',
  })
  routes?: readonly string[];
}

/** The row with its limits, its endpoint and the fields of its requests. */
export function viewModelDetail(
  shown: ShownModel,
  endpoint: string,
  fields: ReadonlyMap<string, FieldLimits>,
): ModelDetailView {
  const limits = { ...limitsOf(fields), ...limitsOfRow(shown.row) };
  const routes = routeNamesOf(shown.row);
  const detail = { ...viewModel(shown), endpoint, limits, parameters: shown.parameters };
  return routes === undefined ? detail : { ...detail, routes };
}

/** The fields with a bound that holds for every model of the endpoint. */
function limitsOf(fields: ReadonlyMap<string, FieldLimits>): Record<string, unknown> {
  const bounded = [...fields].filter(
    ([name, limits]) => !LIMITED_BY_ROW.has(name) && Object.keys(limits).length > 0,
  );
  return Object.fromEntries(bounded);
}

/** The numbers that a vector may have, if the caller may choose. */
function rangeOf(row: ModelRow): object | undefined {
  if (row.operation !== 'embeddings' || !row.limits.dimensions) return undefined;
  const [min, max] = row.limits.dimensions;
  return { min, max };
}

/** The limits under wire names. The shape of a song's body is not a limit; durations are in seconds. */
function limitsOfRow(row: ModelRow): Record<string, unknown> {
  const limits: Record<string, unknown> = {};
  const known: Record<string, unknown> = { ...row.limits };
  for (const [name, value] of Object.entries(known)) {
    if (name === 'shape') continue;
    if (name === 'stemTypes') limits.stem_type = { values: value };
    else if (name === 'dimensions') limits.dimensions = rangeOf(row);
    else if (name === 'minMicros') limits.min_seconds = Number(value) / MICROS_PER_SECOND;
    else limits[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value;
  }
  return limits;
}
