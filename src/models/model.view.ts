import { ApiProperty } from '@nestjs/swagger';
import { ENDPOINT_TYPES, type EndpointType } from '../catalog/operation.js';
import type { ModelRow } from '../catalog/model-row.js';

/** Date of the catalog, which models show as `created`: 2026-11-20. */
const CATALOG_EPOCH_SECONDS = 1_795_132_800;
/** A neutral word, because the gateway names no vendor (decision G-90). */
const OWNER = 'gateway';

/** One model of the list (spec: GET /v1/models; decision G-90). */
export class ModelView {
  @ApiProperty({ example: 'aud-v4' })
  id!: string;

  @ApiProperty({ enum: ['model'] })
  object!: 'model';

  @ApiProperty({ example: CATALOG_EPOCH_SECONDS, description: 'Epoch seconds' })
  created!: number;

  @ApiProperty({ example: OWNER })
  owned_by!: string;

  @ApiProperty({ enum: Object.values(ENDPOINT_TYPES), isArray: true })
  supported_endpoint_types!: EndpointType[];
}

/** The model list. */
export class ModelListView {
  @ApiProperty({ enum: ['list'] })
  object!: 'list';

  @ApiProperty({ type: [ModelView] })
  data!: ModelView[];
}

/** A catalog row as clients see it, by its id or an alias. */
export function viewModel(row: ModelRow, name = row.id): ModelView {
  return {
    id: name,
    object: 'model',
    created: CATALOG_EPOCH_SECONDS,
    owned_by: OWNER,
    supported_endpoint_types: [ENDPOINT_TYPES[row.operation]],
  };
}
