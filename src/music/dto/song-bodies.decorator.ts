import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { SONG_MODELS } from '../../catalog/models/song.models.js';
import { TUNE_MODELS } from '../../catalog/models/tune.models.js';
import { BODY_OF_SHAPE } from './body-of-shape.js';
import { SONG_EXAMPLES } from './song-examples.js';

/** Documents the body: one schema per shape, which `model` selects, and an example per model. */
export function SongBodies(): MethodDecorator {
  const rows = [...SONG_MODELS, ...TUNE_MODELS];
  const bodies = [...new Set(rows.map(({ limits }) => BODY_OF_SHAPE[limits.shape]))];
  const mapping = rows.map(({ id, limits }) => [id, getSchemaPath(BODY_OF_SHAPE[limits.shape])]);
  return applyDecorators(
    ApiExtraModels(...bodies),
    ApiBody({
      schema: {
        oneOf: bodies.map((body) => ({ $ref: getSchemaPath(body) })),
        discriminator: {
          propertyName: 'model',
          mapping: Object.fromEntries(mapping) as Record<string, string>,
        },
      },
      examples: Object.fromEntries(
        Object.entries(SONG_EXAMPLES).map(([model, { summary, ...fields }]) => [
          model,
          { summary, value: { model, ...fields } },
        ]),
      ),
    }),
  );
}
