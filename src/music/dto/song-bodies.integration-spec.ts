import { describe, expect, it } from '@jest/globals';
import {
  FIELD_ROWS,
  foreignFields,
  LEAST_BODIES,
  trialsOf,
  type Body,
} from '../../../test/support/song-models.js';
import { Catalog } from '../../catalog/catalog.js';
import { BUILT_IN_MODELS } from '../../catalog/models/built-in.models.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { bodyOf } from './song.bodies.js';
import { Fade, Speed } from './own-groups.body.js';
import { SongTask, Titled } from './shared-groups.body.js';
import { SONG_EXAMPLES } from './song-examples.js';
import { SongBodyPipe } from './song-body.pipe.js';

const MODELS = BUILT_IN_MODELS.filter(({ operation }) => operation === 'song').map(({ id }) => id);
const pipe = new SongBodyPipe(new Catalog(BUILT_IN_MODELS, () => true));

/** The models with a `custom` field (decision G-72). */
const CUSTOM_MODELS = [
  ...['song-music', 'song-extend', 'song-cover', 'song-mashup', 'song-sample'],
  ...['song-upload-cover', 'song-upload-extend', 'song-add-vocals', 'song-add-instrumental'],
];

/** The field that was refused, or that the body was accepted. */
function verdictOf(body: Body): string | null {
  try {
    pipe.transform(body);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'invalid_music_request') throw error;
    return error.param;
  }
}

describe('the table of song models', () => {
  it('has every model of the catalog and no other', () => {
    expect([...LEAST_BODIES.keys()].sort()).toEqual([...MODELS].sort());
  });
});

describe.each(MODELS)('the body of %s', (model) => {
  const least = LEAST_BODIES.get(model) ?? {};

  it('is accepted with the required fields alone, each of which is required', () => {
    expect(verdictOf(least)).toBe('accepted');
    for (const field of Object.keys(least).filter((name) => name !== 'model')) {
      expect([field, verdictOf({ ...least, [field]: undefined })]).toEqual([field, field]);
      expect([field, verdictOf({ ...least, [field]: null })]).toEqual([field, field]);
    }
  });

  it('accepts each of its fields at both limits and rejects it by name beyond them', () => {
    for (const row of FIELD_ROWS.filter((candidate) => candidate.model === model)) {
      for (const { body, param = 'accepted' } of trialsOf(row)) {
        expect([row.field, body[row.field], verdictOf(body)]).toEqual([
          row.field,
          body[row.field],
          param,
        ]);
      }
    }
  });

  it('rejects the fields of custom mode outside custom mode (SONG-36, SONG-39, SONG-43, G-72, G-73)', () => {
    const rows = FIELD_ROWS.filter((row) => row.model === model && row.with.custom === true);
    expect(rows.length > 0).toBe(CUSTOM_MODELS.includes(model));
    for (const row of rows.filter(({ field }) => `${model} ${field}` !== 'song-music prompt')) {
      const value = trialsOf(row)[0]?.body[row.field];
      for (const custom of [undefined, null, false]) {
        const body = { ...least, custom, [row.field]: value };
        expect([row.field, verdictOf(body)]).toEqual([row.field, row.field]);
      }
    }
  });

  it('refuses every field of the other models by its name (SONG-05, SONG-11, SONG-19, SONG-31, SONG-34, SONG-35, SONG-44, SONG-48, G-67, G-75)', () => {
    for (const [field, value] of foreignFields(model)) {
      expect([field, verdictOf({ ...least, [field]: value })]).toEqual([field, field]);
    }
    expect(verdictOf({ ...least, max_mod: false })).toBe('max_mod');
  });
});

describe('bodyOf', () => {
  it('refuses two groups with a field of the same name', () => {
    class AlsoTitled extends Titled {}
    expect(() => bodyOf(SongTask, Titled, AlsoTitled)).toThrow(
      'two groups of a body hold a field title',
    );
    expect(() => bodyOf(SongTask, Fade, Speed)).not.toThrow();
  });
});

describe('SongBodyPipe', () => {
  it('rejects models of other operations', () => {
    expect(() => pipe.transform({ model: 'aud-v4', input: 'x' })).toThrow(
      expect.objectContaining({ code: 'model_not_available' }),
    );
  });
});

describe('the examples', () => {
  it('are one for each model, and pass', () => {
    expect(Object.keys(SONG_EXAMPLES)).toEqual(MODELS);
    for (const [model, { summary, ...fields }] of Object.entries(SONG_EXAMPLES)) {
      expect([model, summary, verdictOf({ model, ...fields })]).toEqual([
        model,
        expect.stringMatching(/./),
        'accepted',
      ]);
    }
  });
});
